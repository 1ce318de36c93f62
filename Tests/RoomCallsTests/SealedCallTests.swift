import CallCore
import JSON
import MessengerTesting
import Testing

@testable import RoomCalls

@Suite("Calls of encrypted rooms in the page", .serialized)
struct SealedCallTests {
  private let encrypted = #","encrypted":true"#

  private func keyContent(of device: String) -> String {
    #"{"keys":{"index":0,"key":"\#(String(repeating: "A", count: 43))"},"member":{"claimed_device_id":"\#(device)"},"#
      + #""room_id":"!r:a.example","session":{"application":"m.call","call_id":"","scope":"m.room"}}"#
  }

  /// In a call with Boris; Carol may not be in the room.
  private func page() -> Page {
    let page = Page()
    page.desk.group?.canSeal = { true }
    page.room(["@boris:a.example", "@carol:a.example"], unknown: ["@carol:a.example"], more: encrypted)
    return page
  }

  @Test("A browser that cannot encrypt calls does not join one, and says why")
  func cannot() {
    let page = Page()
    page.room(["@boris:a.example"], more: encrypted)
    for step in [#""do":"call","room":"!r:a.example""#, ""] {
      if step.isEmpty { page.click("join") } else { page.tell(step) }
      #expect(page.said.contains { $0["words"]?.string == "groupCallCannotSeal" } && page.desk.group?.ongoing == nil)
      _ = page.asked()
    }
    page.room(["@boris:a.example"])
    page.tell(#""do":"call","room":"!r:a.example""#)
    #expect(
      page.desk.group?.ongoing != nil && page.desk.group?.ongoing?.sealed == nil && !page.texts.contains("groupCallSealed"))
  }

  /// Whose devices the page is to send a key to.
  private func users(_ told: JSON) -> [String] {
    guard let devices = told["devices"] else { return [] }
    var users: [String] = []
    for device in devices.elements { users.append(device["user"]?.string ?? "") }
    return users
  }

  @Test("The own key goes by the page to the devices of members, and to nobody else")
  func sends() throws {
    let page = page()
    page.tell(#""do":"call","room":"!r:a.example""#)
    let told = try #require(page.said.first { $0["event"]?.string == "tell" })
    #expect(told["type"]?.string == "io.element.call.encryption_keys")
    #expect(users(told) == ["@boris:a.example"])
    #expect(told["content"]?["member"]?["claimed_device_id"]?.string == "D" && page.texts.contains("groupCallSealed"))
    _ = page.asked()
    page.room(["@boris:a.example", "@carol:a.example"], more: encrypted)
    let more = page.said.filter { $0["event"]?.string == "tell" }
    #expect(more.flatMap(users) == ["@carol:a.example"])
  }

  @Test("The key of another device goes to the media, and the tile says so until it is there")
  func takes() throws {
    let page = page()
    page.join()
    // The call server says whose a connection is.
    page.hears(
      #"{"seq":1,"type":"connection_created","connection":{"id":"c","role":"publisher","data":"{\"user_id\":\"@boris:a.example\",\"device_id\":\"D\"}"}}"#
    )
    page.hears(#"{"seq":2,"type":"stream_created","stream":{"id":"T","connection":"c","has_audio":true,"has_video":true}}"#)
    #expect(page.texts.contains("groupCallLocked boris"))
    var media: [JSON] = []
    page.desk.group?.ongoing?.host?.media?.post = { if let json = try? JSON.parse($0) { media.append(json) } }
    func key(_ device: String, content: String) {
      page.tell(#""do":"key","room":"!r:a.example","user":"@boris:a.example","device":"\#(device)","content":\#(content)"#)
    }
    key("OTHER", content: keyContent(of: "D"))
    #expect(media.isEmpty)
    key("D", content: keyContent(of: "D"))
    #expect(media.map { $0["do"]?.string } == ["key"] && media[0]["owner"]?.string == "@boris:a.example:D")
    #expect(page.texts.contains("boris"))
  }

  @Test("Where keys cannot be encrypted any more the call ends, and so does one whose room is encrypted from now on")
  func ends() {
    let page = page()
    page.join()
    page.tell(#""do":"told","room":"!r:a.example","number":1,"lost":true,"devices":[]"#)
    #expect(page.desk.group?.ongoing == nil && page.said.contains { $0["words"]?.string == "groupCallKeysLost" })
    page.room(["@boris:a.example"])
    page.join()
    #expect(page.desk.group?.ongoing?.sealed == nil && page.desk.group?.ongoing != nil)
    page.room(["@boris:a.example"], more: encrypted)
    #expect(page.desk.group?.ongoing == nil && page.said.contains { $0["words"]?.string == "groupCallNowSealed" })
  }
}
