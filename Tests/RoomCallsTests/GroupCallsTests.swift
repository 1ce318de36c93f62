import CallCore
import MessengerTesting
import Testing

@testable import RoomCalls

@Suite("Calls of many in the page", .serialized)
struct GroupCallsTests {
  @Test("The bar is there while somebody who is in the room is in its call, and counts people, not devices")
  func bar() {
    let page = Page()
    page.room([])
    #expect(page.dom.isHidden("gc-bar"))
    page.room(["@boris:a.example", "@carol:a.example"])
    #expect(!page.dom.isHidden("gc-bar") && page.texts.contains("groupCallHere 2"))
    page.room(["@boris:a.example", "@carol:a.example"], people: ["@boris:a.example"])
    #expect(page.texts.contains("groupCallHere 1"))
    page.room(["@boris:a.example"], expires: -1)
    #expect(page.dom.isHidden("gc-bar"))
    page.room(["@boris:a.example"])
    page.tell(#""do":"shown""#)
    #expect(page.dom.isHidden("gc-bar"))
  }

  // Proves A14, M39
  @Test("Joining arranges the end first, then writes the membership; hanging up carries the end out")
  func membership() {
    let page = Page()
    page.room(["@boris:a.example"])
    page.join()
    let key = "/_matrix/client/v3/rooms/%21r%3Aa.example/state/org.matrix.msc3401.call.member/_%40me%3Aa.example_D_m.call"
    let delayed = page.asked()
    #expect(delayed.map(\.path) == ["PUT \(key)?org.matrix.msc4140.delay=30000"])
    page.answer(delayed[0].id, #"{"delay_id":"later"}"#)
    #expect(page.asked().map(\.path) == ["PUT \(key)"])
    #expect(page.dom.isHidden("gc-bar"), "the call is shown instead")
    page.tell(#""do":"close""#)
    let end = page.asked()
    #expect(end.map(\.path) == ["POST /_matrix/client/unstable/org.matrix.msc4140/delayed_events/later"])
    page.tell(#""do":"answered","id":\#(end[0].id),"error":"gone""#)
    #expect(page.asked().map(\.path) == ["PUT \(key)"], "where that fails, it is written")
    #expect(page.desk.group?.ongoing == nil && !page.dom.isHidden("gc-bar"))
  }

  @Test("Signs of life go on after the network was gone; the end arranged before is taken away where another takes its place")
  func cutOff() throws {
    let page = Page()
    page.room(["@boris:a.example"])
    page.join()
    let key = "PUT /_matrix/client/v3/rooms/%21r%3Aa.example/state/org.matrix.msc3401.call.member/_%40me%3Aa.example_D_m.call"
    let ends = "POST /_matrix/client/unstable/org.matrix.msc4140/delayed_events/"
    page.answer(page.asked()[0].id, #"{"delay_id":"later"}"#)
    _ = page.asked()
    let membership = try #require(page.desk.group?.ongoing?.membership)
    func refuse() -> [String] {
      let asked = page.asked()
      for one in asked { page.tell(#""do":"answered","id":\#(one.id),"error":"no network""#) }
      return asked.map(\.path)
    }
    membership.giveSignOfLife()
    #expect(refuse() == [ends + "later"])
    #expect(refuse() == [key + "?org.matrix.msc4140.delay=30000"])
    #expect(page.asked().isEmpty, "all stays as it is")
    membership.giveSignOfLife()
    #expect(refuse() == [ends + "later"])
    page.answer(page.asked()[0].id, #"{"delay_id":"other"}"#)
    #expect(page.asked().map(\.path) == [ends + "later", key])
    membership.giveSignOfLife()
    #expect(page.asked().map(\.path) == [ends + "other"])
  }

  // Proves M48
  @Test("Everybody has a tile with the name of the room; who is removed is told, and the call is over")
  func tiles() {
    let page = Page()
    page.room(["@boris:a.example", "@me:a.example"])
    page.join()
    #expect(page.texts.contains("boris") && page.texts.contains("me"))
    page.hears(#"{"seq":1,"type":"recording_started","archive":"A","name":""}"#)
    #expect(page.texts.contains("groupCallRecorded"))
    page.hears(#"{"seq":2,"type":"connection_created","connection":{"id":"x","role":"publisher","data":"no JSON"}}"#)
    #expect(page.texts.contains("?"))
    page.hears(#"{"seq":3,"type":"connection_destroyed","connection":"b","reason":"left"}"#)
    #expect(!page.texts.contains("boris"))
    _ = page.asked()
    page.hears(#"{"type":"closed","code":"forced","message":"","retry":false}"#)
    #expect(page.said.contains { $0["words"]?.string == "groupCallRemoved" })
    #expect(page.desk.group?.ongoing == nil)
  }

  @Test("Who becomes a moderator, or is one no more, has the buttons for it")
  func role() {
    let page = Page()
    page.room(["@boris:a.example", "@me:a.example"])
    page.join()
    func canRemove() -> Bool {
      page.dom[.root].tags("button").contains { $0.attributes["aria-label"] == "groupCallRemove boris" }
    }
    #expect(canRemove())
    page.hears(#"{"seq":1,"type":"connection_changed","connection":"me","role":"publisher"}"#)
    #expect(!canRemove() && page.texts.contains("boris"))
    page.hears(#"{"seq":2,"type":"connection_changed","connection":"me","role":"moderator"}"#)
    #expect(canRemove())
  }

  // Proves A12
  @Test("A call whose connection ends for another reason says that it was lost, or never made", arguments: [true, false])
  func lost(wasIn: Bool) {
    let page = Page()
    page.room(["@boris:a.example"])
    page.join()
    if !wasIn {
      page.click("callEnd")
      page.tell(#""do":"call","room":"!r:a.example""#)
      page.answer(page.asked().last?.id ?? 0, #"{"token":"t","session_id":"s","url":"wss://a.example/s"}"#)
      page.desk.group?.ongoing?.host?.handle(.socketOpened(1))
    }
    page.hears(#"{"type":"closed","code":"token","message":"","retry":false}"#)
    #expect(page.said.contains { $0["words"]?.string == (wasIn ? "callLost" : "callBroken") })
    #expect(page.desk.group?.ongoing == nil)
  }

  @Test(
    "A socket without TLS is on the server that the page reaches already",
    arguments: [
      (
        "http://192.168.1.5:8008", "ws://127.0.0.1:8008/_martlet/call/v1/socket",
        "ws://192.168.1.5:8008/_martlet/call/v1/socket"
      ),
      ("https://chat.example", "ws://127.0.0.1:8008/s", "wss://chat.example/s"),
      ("https://chat.example", "wss://calls.example/s", "wss://calls.example/s"),
      ("http://[::1]:8008", "ws://martlet.local:8008", "ws://[::1]:8008"),
      ("", "ws://127.0.0.1:8008/s", "ws://127.0.0.1:8008/s")
    ])
  func socketAddress(base: String, url: String, address: String) {
    let page = Page()
    page.tell(#""do":"session","user":"@me:a.example","device":"D","server":"\#(base)""#)
    page.room([])
    page.tell(#""do":"call","room":"!r:a.example""#)
    page.answer(page.asked().last?.id ?? 0, #"{"token":"t","session_id":"s","url":"\#(url)"}"#)
    #expect(page.desk.group?.ongoing?.host?.address == address)
  }

  // Proves A15
  @Test("A call of 50 takes nobody more")
  func full() {
    let page = Page()
    page.room((0..<50).map { "@u\($0):a.example" })
    page.tell(#""do":"call","room":"!r:a.example""#)
    #expect(page.desk.group?.ongoing == nil && page.said.contains { $0["words"]?.string == "groupCallFull" })
    page.room((0..<49).map { "@u\($0):a.example" })
    page.tell(#""do":"call","room":"!r:a.example""#)
    #expect(page.desk.group?.ongoing != nil)
  }

  @Test("A call rings in a small room, whichever room is open; a larger one shows that a call goes on")
  func rings() {
    let page = Page()
    page.room(["@boris:a.example"], more: #","small":false"#)
    #expect(page.texts.contains("groupCallHere 1") && !page.texts.contains("notNow") && page.dom.isHidden("ma-avatar-small"))
    page.room(["@boris:a.example"], more: #","small":true"#)
    #expect(page.texts.contains("groupCallRings boris Garden") && page.texts.contains("notNow"))
    #expect(!page.dom.isHidden("ma-avatar-small"), "the caller's picture")
    page.tell(#""do":"shown","room":"!other:a.example""#)
    #expect(page.texts.contains("groupCallRings boris Garden"))
    page.click("join")
    #expect(page.said.contains { $0["event"]?.string == "join" && $0["room"]?.string == "!r:a.example" })
    #expect(page.desk.group?.ongoing == nil && !page.texts.contains("groupCallRings boris Garden"), "the preview comes first")
  }

  @Test("Without a camera at first a microphone alone is published; the camera is opened when it is turned on")
  func withoutCamera() {
    let page = Page()
    page.room(["@boris:a.example"])
    page.tell(#""do":"call","room":"!r:a.example","camera":false,"muted":true"#)
    var own: Publication? { page.desk.group?.ongoing?.session?.publication(1) }
    #expect(own?.kind == .microphone && own?.hasVideo == false && own?.hasAudio == false)
    page.desk.group?.ongoing?.toggle(.video)
    #expect(own?.kind == .camera && own?.hasVideo == true && own?.hasAudio == false)
  }

  @Test("The page is told once which room the user's call is in")
  func ongoing() {
    let page = Page()
    page.room(["@boris:a.example"])
    page.tell(#""do":"call","room":"!r:a.example","camera":true"#)
    page.room(["@boris:a.example"])
    page.click("callEnd")
    let told = page.said.filter { $0["event"]?.string == "calling" }
    #expect(told.map { $0["room"]?.string } == ["!r:a.example", nil] && told.map { $0["seen"]?.bool } == [true, false])
  }

  // Proves A16
  @Test(
    "Tiles stand so that they are largest",
    arguments: [
      (1, 800.0, 400.0, 1), (2, 800, 400, 2), (4, 800, 600, 2), (3, 300, 900, 1), (6, 1200, 400, 3), (50, 1200, 500, 10)
    ])
  func columns(_ count: Int, _ width: Double, _ height: Double, _ columns: Int) {
    #expect(CallView<FakeDOM>.columns(count, width: width, height: height) == columns)
  }
}
