import ClientCore
import EncryptionLink
import JSON
import MatrixModel
import PageWidgets
import PageWords
import Testing
import WebHost

@testable import WebApp

@Suite("What the page tells the program of calls")
struct CallTests {
  private func event(_ type: String, _ unsigned: String = #"{"age":2000}"#) throws -> Event {
    let json =
      #"{"type":"\#(type)","sender":"@boris:chat.example","origin_server_ts":1000,"content":{"call_id":"c"},"unsigned":\#(unsigned)}"#
    return try #require(Event(try JSON.parse(Array(json.utf8))))
  }

  @Test("it is loaded with the first event of a call, and told who calls, what was said, and when the sync was through")
  func events() throws {
    let page = Page()
    page.signIn()
    page.sync([("!garden:chat.example", room("Garden", [("@boris:chat.example", "Beans", 60)]))])
    let garden = try #require(RoomID("!garden:chat.example"))
    let calls = try #require(page.app.main).calls
    calls.arrived(garden, [try event("m.room.message")])
    calls.settle()
    #expect(calls.port == nil)
    calls.arrived(garden, [try event("m.call.invite")])
    var told: [JSON] = []
    try #require(calls.port).post = { if let json = try? JSON.parse($0) { told.append(json) } }
    calls.settle()
    calls.settle()
    #expect(told.map { $0["do"]?.string } == ["synced"])
    told = []
    calls.arrived(garden, [try event("m.room.message"), try event("m.call.hangup")])
    #expect(told.map { $0["do"]?.string } == ["room", "event"])
    #expect(told[0]["name"]?.string == "Garden" && told[0]["direct"] == nil && told[0]["public"]?.bool == false)
    #expect(told[0]["people"]?.elements.compactMap { $0["user"]?.string } == ["@boris:chat.example"])
    #expect(told[1]["type"]?.string == "m.call.hangup" && told[1]["content"]?["call_id"]?.string == "c")
    let old = told[1]["at"]?.integer ?? 0
    told = []
    calls.arrived(garden, [try event("m.call.hangup", "{}")])
    #expect(told[1]["at"]?.integer == 1000 && old == Host.wallClockMilliseconds() - 2000)
  }

  @Test("a call rings everybody in rooms of at most five people", arguments: [(5, true), (6, false)])
  func small(people: Int, rings: Bool) throws {
    let page = Page()
    page.signIn()
    let content = room("Garden", []).replacing(#""m.joined_member_count":3"#, with: #""m.joined_member_count":\#(people)"#)
    page.sync([("!garden:chat.example", content)])
    let calls = try #require(page.app.main).calls
    let garden = try #require(RoomID("!garden:chat.example"))
    calls.call(in: garden, CallSetup(hasCamera: false))
    var told: [JSON] = []
    try #require(calls.port).post = { if let json = try? JSON.parse($0) { told.append(json) } }
    calls.call(in: garden, CallSetup(hasCamera: false))
    #expect(told.first?["small"]?.bool == rings)
  }

  @Test("if it could not be loaded the page says so, and the next call loads it anew")
  func unreachable() throws {
    let page = Page()
    page.signIn()
    page.sync([("!garden:chat.example", room("Garden", []))])
    let calls = try #require(page.app.main).calls
    let garden = try #require(RoomID("!garden:chat.example"))
    calls.call(in: garden, CallSetup(hasCamera: false))
    calls.take(try JSON.parse(Array(#"{"event":"unreachable"}"#.utf8)))
    #expect(calls.port == nil && page.text.contains(Strings.words(for: ClientError.network)))
    calls.call(in: garden, CallSetup(hasCamera: false))
    #expect(calls.port != nil)
  }

  @Test("its requests go to the homeserver with the session, each is answered once")
  func requests() throws {
    let page = Page()
    page.signIn()
    page.sync([("!garden:chat.example", room("Garden", []))])
    let calls = try #require(page.app.main).calls
    calls.call(in: try #require(RoomID("!garden:chat.example")), CallSetup(hasCamera: false))
    var told: [JSON] = []
    try #require(calls.port).post = { if let json = try? JSON.parse($0) { told.append(json) } }
    for (id, method) in ["GET", "PUT", "POST"].enumerated() {
      calls.take(
        try JSON.parse(Array(#"{"event":"ask","id":\#(id),"method":"\#(method)","path":"/x\#(id)","body":{"a":1}}"#.utf8)))
      let asked = try #require(page.requests.first { $0.request.target == "/x\(id)" }?.request)
      #expect("\(asked.method)".uppercased() == method && (asked.body == nil) == (method == "GET"))
      page.answer("/x\(id)", #"{"done":\#(id)}"#)
    }
    #expect(told.map { $0["do"]?.string } == ["answered", "answered", "answered"])
    #expect(told.compactMap { $0["answer"]?["done"]?.integer } == [0, 1, 2])
    calls.take(try JSON.parse(Array(#"{"event":"notice","words":"The call has ended.","trouble":false}"#.utf8)))
    #expect(page.text.contains("The call has ended."))
  }

  @Test("when another tab goes on calls end; of all requests only theirs still go out, and are answered")
  func takenOver() throws {
    let page = Page()
    page.signIn()
    page.sync([("!garden:chat.example", room("Garden", []))])
    let calls = try #require(page.app.main).calls
    calls.call(in: try #require(RoomID("!garden:chat.example")), CallSetup(hasCamera: false))
    var told: [String] = []
    try #require(calls.port).post = { if let json = try? JSON.parse($0) { told.append(json["do"]?.string ?? "") } }
    calls.take(try JSON.parse(Array(#"{"event":"ask","id":1,"method":"PUT","path":"/first","body":{}}"#.utf8)))
    page.app.stop()
    #expect(told == ["close"] && page.app.main == nil)
    calls.take(try JSON.parse(Array(#"{"event":"ask","id":2,"method":"PUT","path":"/last","body":{}}"#.utf8)))
    calls.take(try JSON.parse(Array(#"{"event":"notice","words":"The call has ended.","trouble":false}"#.utf8)))
    let living = page.requests.filter { page.app.effects.outlives($0.id) }
    #expect(living.map(\.request.target) == ["/first", "/last"] && living.count < page.requests.count)
    #expect(page.answer("/first", "{}") && page.answer("/last", "{}"))
    #expect(told == ["close", "answered", "answered"] && page.text.isEmpty)
  }

  @Test("keys of calls in encrypted rooms are passed on if their device may read them; without transforms nobody calls there")
  func keys() throws {
    let page = Page()
    page.signIn()
    let encryption =
      #"{"type":"m.room.encryption","state_key":"","event_id":"$e","sender":"@alice:chat.example","content":{"algorithm":"m.megolm.v1.aes-sha2"}},"#
    let vault = room("Vault", []).replacing(#""state":{"events":["#, with: #""state":{"events":["# + encryption)
    page.sync([("!vault:chat.example", vault)])
    let (calls, id) = (try #require(page.app.main).calls, try #require(RoomID("!vault:chat.example")))
    calls.call(in: id, CallSetup(hasCamera: false))
    var told: [JSON] = []
    try #require(calls.port).post = { if let json = try? JSON.parse($0) { told.append(json) } }
    calls.call(in: id, CallSetup(hasCamera: false))
    #expect(told.first?["encrypted"]?.bool == true)
    func receive(_ type: ByteString, isReader: Bool = true) {
      told = []
      let event = DeviceEvent(type: type, content: Array(#"{"room_id":"!vault:chat.example"}"#.utf8))
      let sender = LinkDevice(user: "@boris:chat.example", device: "PHONE")
      page.app.effects.encryption.onReceived(
        ReceivedDeviceEvent(event: event, sender: sender, isSigned: true, isReader: isReader))
    }
    receive("io.element.call.encryption_keys")
    #expect(told.map { $0["do"]?.string } == ["key"] && told[0]["user"]?.string == "@boris:chat.example")
    #expect(told[0]["device"]?.string == "PHONE" && told[0]["content"]?["room_id"]?.string == "!vault:chat.example")
    receive("io.element.call.encryption_keys", isReader: false)
    #expect(told.isEmpty)
    receive("m.other")
    #expect(told.isEmpty)
    calls.prepare(id, withCamera: nil)
    #expect(page.text.contains(Strings[.groupCallCannotSeal]))
  }
}
