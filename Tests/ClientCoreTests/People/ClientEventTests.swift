import JSON
import MatrixModel
import Testing

@testable import ClientCore

/// A host that reads what happens the way a host of the SDK does.
private struct EventHost {
  var host: Host
  var reader: ClientEventReader
  private var seen = 0

  init(_ host: Host) {
    self.host = host
    self.host.client.reportsArrivals = true
    reader = ClientEventReader(self.host.client)
    seen = host.changes.count
  }

  /// What came of the changes since the last call, in short.
  mutating func events(_ act: (inout Host) -> Void) -> [String] {
    seen = host.changes.count
    act(&host)
    return host.changes[seen...].flatMap { reader.read($0, in: host.client) }.map(describe)
  }
}

private func describe(_ event: ClientEvent) -> String {
  switch event {
  case .connected, .allEnded, .allHidden: "\(event.kind)"
  case .error(let trouble): "error \(trouble)"
  case .left(let room, let membership): "left \(room) \(membership)"
  case .message(_, let message): "message \(message.content?.body.string ?? "?")\(message.mentionsReader ? " @" : "")"
  case .broadcast(_, let message): "broadcast \(message.content?.body.string ?? "?")"
  case .file(_, let message): "file \(message.content?.attachment?.fileName.string ?? "?")"
  case .system(_, let message): "system \(message.change)"
  case .started(let room): "started \(room)"
  case .updated(let room, _): "updated \(room)"
  case .ended(let room): "ended \(room)"
  case .hidden(let room): "hidden \(room)"
  case .read(_, let user, let event): "read \(user) \(event)"
  case .typingStarted(_, let user): "typingStarted \(user)"
  case .typingStopped(_, let user): "typingStopped \(user)"
  case .data(_, let events): "data \(events.count)"
  case .delivery(_, .sent(_, let event)): "sent \(event)"
  case .delivery(_, .failed): "failed"
  case .delivery(_, .delivered(let event, let user)): "delivered \(event) \(user)"
  }
}

@Suite struct ClientEventTests {
  private static func closedRoom() -> EventHost {
    var host = Host.signedIn()
    let invite = Wire.event("m.room.join_rules", "$j", #"{"join_rule":"invite"}"#, stateKey: "")
    host.sync(Wire.join([Wire.message("one", "$1")], state: Wire.members + [invite], extra: Wire.counts))
    return EventHost(host)
  }

  @Test func `there are the eighteen kinds of the messaging kits before`() {
    #expect(ClientEvent.Kind.allCases.count == 18)
  }

  // Proves J13
  @Test func `what is said in a room that nobody has open comes in, files and notices apart`() {
    var host = Self.closedRoom()
    let file = Wire.event(
      "m.room.message", "$f", #"{"msgtype":"m.image","body":"cat.png","filename":"cat.png","url":"mxc://test/1"}"#)
    let notice = Wire.event("m.room.message", "$n", #"{"msgtype":"m.server_notice","body":"Full"}"#)
    let mention = Wire.event(
      "m.room.message", "$m", #"{"msgtype":"m.text","body":"You","m.mentions":{"user_ids":["@me:test"]}}"#)
    let own = Wire.event("org.example.own", "$o", "{\"a\":1}")
    let topic = Wire.event("m.room.topic", "$t", #"{"topic":"Tea"}"#, stateKey: "")
    let events = host.events { $0.sync(Wire.join([Wire.message("hello", "$2"), file, notice, mention, own, topic])) }
    #expect(
      events == [
        "updated !room:test", "message hello", "file cat.png", "broadcast Full", "message You @",
        "system topicSet(Optional(Tea))", "data 6"
      ])
  }

  // Proves W23
  @Test func `the first sync is history, a later one of a restarted client is not`() {
    var first = Host.signedIn()
    first.client.reportsArrivals = true
    var host = EventHost(first)
    let rooms = Wire.join([Wire.message("one", "$1")], state: Wire.members)
    #expect(host.events { $0.sync(rooms) } == ["connected"])
    var next = EventHost(host.host.restarted())
    let events = next.events { $0.sync(Wire.join([Wire.message("two", "$2")])) }
    #expect(events.contains("message two") && events.contains("connected"))
  }

  // Proves J15, T14, T15
  @Test func `connecting, losing the connection and the session are told`() {
    var host = Self.closedRoom()
    #expect(host.events { $0.respond("/sync?", .networkError) }.first?.hasPrefix("error disconnected") == true)
    #expect(host.events { $0.handle(.networkChanged(isOnline: false)) } == ["error offline"])
    host.host.handle(.networkChanged(isOnline: true))
    #expect(host.events { $0.sync() } == ["connected"])
    #expect(host.events { $0.sync() } == [])
    #expect(
      host.events { host in
        host.command(.session(.logOut))
        host.answer("/logout", "{}")
      } == ["error signedOut(ClientCore.SessionState.signedOut)"])
  }

  // Proves J13
  @Test func `conversations start and end, public rooms are left, and the last end says so`() {
    var host = Self.closedRoom()
    let state = Wire.event("m.room.member", "$i", #"{"membership":"invite"}"#, stateKey: "@me:test")
    #expect(
      host.events { $0.sync(#""invite":{"!i:test":{"invite_state":{"events":["# + state + "]}}}") }
        == ["started !i:test", "updated !i:test"])
    let open = Wire.event("m.room.join_rules", "$j", #"{"join_rule":"public"}"#, stateKey: "")
    #expect(host.events { $0.sync(Wire.join(state: [open], room: "!p:test")) } == ["started !p:test", "updated !p:test"])
    #expect(host.events { $0.sync(#""leave":{"!p:test":{}}"#) } == ["left !p:test leave"])
    #expect(host.events { $0.sync(#""leave":{"!i:test":{}}"#) } == ["ended !i:test"])
    #expect(host.events { $0.sync(#""leave":{"!room:test":{}}"#) } == ["ended !room:test", "allEnded"])
  }

  // Proves J13
  @Test func `rooms hide, and the last of them says so`() {
    var host = Self.closedRoom()
    host.host.sync(Wire.join(room: "!b:test"))
    _ = host.events { _ in }
    func hidden(_ room: String, _ content: String) -> String {
      Wire.join(room: room, extra: #","account_data":{"events":[{"type":"martlet.hidden","content":\#(content)}]}"#)
    }
    #expect(host.events { $0.sync(hidden("!b:test", #"{"before":1}"#)) } == ["hidden !b:test"])
    #expect(host.events { $0.sync(hidden("!b:test", "{}")) } == [])
    #expect(host.events { $0.sync(hidden("!b:test", #"{"before":2}"#)) } == ["hidden !b:test"])
    #expect(host.events { $0.sync(hidden("!room:test", #"{"before":2}"#)) } == ["hidden !room:test", "allHidden"])
  }

  @Test func `a room that was hidden before one listened is hidden`() {
    var host = Host.signedIn()
    func hidden(_ room: String) -> String {
      Wire.join(room: room, extra: #","account_data":{"events":[{"type":"martlet.hidden","content":{"before":1}}]}"#)
    }
    host.sync(hidden("!b:test"))
    host.sync(Wire.join(room: "!room:test"))
    var reading = EventHost(host)
    #expect(reading.events { $0.sync(hidden("!room:test")) } == ["hidden !room:test", "allHidden"])
  }

  @Test func `what is said in a room of server notices is a notice of the server's`() {
    var host = Self.closedRoom()
    host.host.sync(
      Wire.join(extra: #","account_data":{"events":[{"type":"m.tag","content":{"tags":{"m.server_notice":{}}}}]}"#))
    let events = host.events { $0.sync(Wire.join([Wire.message("Full", "$2")])) }
    #expect(events.contains("broadcast Full") && !events.contains("message Full"))
  }

  // Proves J13, W30
  @Test func `others read and receive, and write until the fuse has burned`() {
    var host = Self.closedRoom()
    let receipts =
      #","ephemeral":{"events":[{"type":"m.receipt","content":{"$1":{"m.read":{"@alice:test":{"ts":1},"@me:test":{"ts":1}},"martlet.delivered":{"@bob:test":{"ts":1}}}}}]}"#
    let read = host.events { $0.sync(Wire.join(extra: receipts)) }
    #expect(read.contains("read @alice:test $1") && read.contains("delivered $1 @bob:test"))
    #expect(!read.contains("read @me:test $1"))
    let typing = #","ephemeral":{"events":[{"type":"m.typing","content":{"user_ids":["@alice:test","@bob:test"]}}]}"#
    #expect(
      host.events { $0.sync(Wire.join(extra: typing)) } == ["typingStarted @alice:test", "typingStarted @bob:test"])
    #expect(host.events { $0.sync(Wire.join([Wire.message("done", "$9")])) }.contains("typingStopped @alice:test"))
    #expect(host.events { $0.wait(Limits.typingFuseMilliseconds) } == ["typingStopped @bob:test"])
  }

  @Test func `what one sends is delivered, or not`() {
    var host = Self.closedRoom()
    host.host.command(.sending(.send(.test, .text("Hi"))))
    #expect(host.events { $0.answer("/send/", #"{"event_id":"$s"}"#) }.contains("sent $s"))
    host.host.command(.sending(.send(.test, .text("Ho"))))
    let refused = host.events { $0.answer("/send/", status: 403, #"{"errcode":"M_FORBIDDEN","error":"no"}"#) }
    #expect(refused.contains("failed"))
  }

  @Test func `a message is delivered once, though its answer comes while the sync that has it is being stored`() {
    var host = Self.closedRoom()
    host.host.command(.sending(.send(.test, .text("Hi"))))
    let transaction = host.host.transaction
    host.host.writesAtOnce = false
    let events = host.events { host in
      host.sync(Wire.join([Wire.message("Hi", "$s", by: "@me:test", transaction: transaction)]))
      host.answer("/send/", #"{"event_id":"$s"}"#)
      host.finishWrites()
    }
    #expect(events.filter { $0 == "sent $s" }.count == 1)
  }

  @Test func `what ignored users say does not come in`() {
    var host = Self.closedRoom()
    host.host.sync(extra: IgnoringTests.list("@alice:test"))
    _ = host.events { _ in }
    let events = host.events { $0.sync(Wire.join([Wire.message("unseen", "$2")])) }
    #expect(!events.contains("message unseen"))
  }

  @Test func `nothing is told where nobody wants to know`() {
    var host = Host.inRoom()
    host.changes = []
    host.sync(Wire.join([Wire.message("two", "$2")]))
    #expect(!host.changes.contains { if case .arrived = $0 { true } else { false } })
  }
}
