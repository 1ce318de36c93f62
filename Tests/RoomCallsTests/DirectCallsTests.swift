import CallCore
import JSON
import MatrixModel
import Testing
import WebHost

@testable import RoomCalls

@Suite("Calls between two in the page", .serialized)
struct DirectCallsTests {
  private static let sdp = #"v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\nm=audio 9 RTP/AVP 0\r\n"#

  /// In the room of just the two.
  private func page(isPublic: Bool = false) -> Page {
    let page = Page()
    page.room([], people: ["@boris:a.example"], more: #","direct":"@boris:a.example","public":\#(isPublic)"#)
    return page
  }

  private static let offer = #","lifetime":60000,"offer":{"type":"offer","sdp":"\#(sdp)"}"#

  private func event(
    _ page: Page, _ kind: String, in room: String = "!r:a.example", by sender: String = "@boris:a.example", call: String = "c",
    at: Int64 = Host.wallClockMilliseconds(), _ members: String = ""
  ) {
    page.tell(
      #""do":"event","room":"\#(room)","type":"m.call.\#(kind)","sender":"\#(sender)","at":\#(at),"#
        + #""content":{"call_id":"\#(call)","version":"1","party_id":"p"\#(members)}"#)
  }

  private func invite(_ page: Page, at: Int64 = Host.wallClockMilliseconds()) {
    event(page, "invite", at: at, Self.offer)
  }

  private func isShown(_ page: Page) -> Bool { page.dom[.root].first("dc-call") != nil }

  @Test("An invite rings once the sync is through, with the name of the room; declining tells the room and the panel goes")
  func rings() throws {
    let page = page()
    invite(page)
    #expect(!isShown(page))
    page.tell(#""do":"synced""#)
    #expect(page.texts.contains("callsYou boris"))
    // The name and the picture also in the call's own room.
    #expect(page.texts.contains("boris") && !page.dom.isHidden("ma-avatar-small"))
    #expect(page.asked().map(\.path) == ["GET /_matrix/client/v3/voip/turnServer"])
    page.click("callDecline")
    #expect(
      page.asked().contains { $0.path.hasPrefix("PUT /_matrix/client/v3/rooms/%21r%3Aa.example/send/m.call.reject/call") })
    #expect(!isShown(page))
  }

  @Test("What is taken back in the same sync, too old, or said by anybody in a public room does not ring")
  func silent() {
    let taken = page()
    invite(taken)
    event(taken, "hangup")
    taken.tell(#""do":"synced""#)
    #expect(!isShown(taken))
    let old = page()
    invite(old, at: Host.wallClockMilliseconds() - 61_000)
    old.tell(#""do":"synced""#)
    #expect(!isShown(old))
    let absurd = page()
    invite(absurd, at: .min)
    absurd.tell(#""do":"synced""#)
    #expect(!isShown(absurd))
    let strange = page(isPublic: true)
    invite(strange)
    strange.tell(#""do":"synced""#)
    #expect(!isShown(strange))
  }

  // Proves A1
  @Test("The button in a direct chat calls the other one: the relays are asked for, then the devices; one call at a time")
  func place() {
    let page = page()
    page.tell(#""do":"call","room":"!r:a.example","camera":true"#)
    let asked = page.asked()
    #expect(asked.map(\.path) == ["GET /_matrix/client/v3/voip/turnServer"])
    page.answer(asked[0].id, #"{"uris":["turn:a.example"],"username":"u","password":"p","ttl":60}"#)
    #expect(page.texts.contains("callConnects") && page.desk.direct?.isBusy == true)
    page.tell(#""do":"call","room":"!r:a.example","camera":true"#)
    #expect(page.asked().isEmpty)
    #expect(page.desk.group?.ongoing == nil)
    page.click("callEnd")
    #expect(!isShown(page) && page.desk.direct?.isBusy == false)
  }

  // Proves A3
  @Test("During a call another rings beside it: declined, its caller is told of it; answered, it takes the place")
  func second() {
    let page = page()
    page.tell(
      #""do":"room","room":"!s:a.example","direct":"@carol:a.example","people":[{"user":"@carol:a.example","name":"carol"}]"#)
    page.tell(#""do":"call","room":"!r:a.example""#)
    page.answer(page.asked()[0].id, "{}")
    for id in ["c", "d"] {
      event(page, "invite", in: "!s:a.example", by: "@carol:a.example", call: id, Self.offer)
      page.tell(#""do":"synced""#)
      #expect(page.texts.contains("callsYou carol") && page.texts.contains("callConnects"))
      #expect(!page.texts.contains("callAnswer"))
      guard id == "c" else { break }
      page.click("callDecline")
      let paths = page.asked().map(\.path)
      #expect(paths.contains { $0.contains("%21s%3Aa.example/send/m.call.hangup") })
      #expect(!paths.contains { $0.contains("m.call.reject") })
      #expect(!page.texts.contains("callsYou carol") && page.texts.contains("callConnects"))
    }
    page.answer("callHangUpAndAnswer")
    #expect(page.dom[.root].all("dc-call").count == 1 && page.desk.direct?.isBusy == true)
    let isInUse = ["!r:a.example", "!s:a.example"].map { page.desk.direct?.uses(RoomID($0)!) }
    #expect(isInUse == [false, true])
  }

  @Test(
    "The end of a call by the other side shows its reason, as far as it matters",
    arguments: [
      ("ice_timeout", "callLost"), ("ice_failed", "callBroken"), ("user_hangup", "callOver"), ("user_busy", "callBusy boris")
    ])
  func ends(reason: String, words: String) {
    let page = page()
    invite(page)
    page.tell(#""do":"synced""#)
    page.answer("callAnswer")
    event(page, "hangup", #","reason":"\#(reason)""#)
    #expect(page.said.contains { $0["words"]?.string == words })
    #expect(!isShown(page))
  }

  // Proves A3
  @Test("A user is in one call at a time: it ends when they answer, make or join another")
  func onlyOne() {
    let page = page()
    page.room(["@boris:a.example"])
    page.join()
    page.tell(
      #""do":"room","room":"!s:a.example","direct":"@carol:a.example","people":[{"user":"@carol:a.example","name":"carol"}]"#)
    event(page, "invite", in: "!s:a.example", by: "@carol:a.example", Self.offer)
    page.tell(#""do":"synced""#)
    page.desk.group?.close()
    #expect(page.texts.contains("callAnswer") && !page.texts.contains("callHangUpAndAnswer"))
    page.join()
    #expect(page.texts.contains("callHangUpAndAnswer"))
    page.answer("callHangUpAndAnswer")
    #expect(page.desk.group?.ongoing == nil && page.desk.direct?.isBusy == true)
    page.tell(#""do":"call","room":"!r:a.example""#)
    #expect(page.desk.group?.ongoing != nil && page.desk.direct?.isBusy == false)
    page.tell(#""do":"call","room":"!s:a.example""#)
    #expect(page.desk.group?.ongoing == nil)
    page.answer(page.asked().last?.id ?? 0, "{}")
    #expect(page.desk.direct?.isBusy == true)
    page.room([], people: ["@boris:a.example"], more: #","direct":"@boris:a.example""#)
    page.tell(#""do":"call","room":"!r:a.example""#)
    page.answer(page.asked().last?.id ?? 0, "{}")
    let isInUse = ["!r:a.example", "!s:a.example"].map { page.desk.direct?.uses(RoomID($0)!) }
    #expect(isInUse == [true, false])
  }

  @Test("A caller keeps the name of their event; leaving the room, or another session, ends the ringing")
  func names() {
    let page = page()
    page.room([], people: [])
    invite(page)
    page.tell(#""do":"synced""#)
    #expect(page.texts.contains("callsYou boris"))
    // The name and the picture also in the call's own room.
    #expect(page.texts.contains("boris") && !page.dom.isHidden("ma-avatar-small"))
    page.tell(#""do":"left","room":"!r:a.example""#)
    #expect(!isShown(page))
    let other = self.page()
    invite(other)
    other.tell(#""do":"synced""#)
    #expect(isShown(other))
    other.tell(#""do":"session","user":"@you:a.example","device":"E""#)
    #expect(!isShown(other))
  }

  @Test("What is no event of a call is nothing")
  func hostile() {
    let page = page()
    page.tell(#""do":"event","room":"!r:a.example""#)
    page.tell(#""do":"event","room":"!r:a.example","type":"m.call.invite","sender":"@boris:a.example","content":[1]"#)
    page.tell(#""do":"event","room":7,"type":"m.call.invite","sender":"@boris:a.example","content":{}"#)
    page.tell(
      #""do":"event","room":"!r:a.example","type":"m.call.invite","sender":"@boris:a.example","at":9223372036854775807,"content":{}"#
    )
    page.tell(#""do":"synced""#)
    #expect(!isShown(page))
  }
}
