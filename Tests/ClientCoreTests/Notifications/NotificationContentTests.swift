import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct NotificationContentTests {
  /// What a person is told of an event that the store has.
  static func told(_ event: String, _ host: Host) throws -> String {
    let records = Client.newestSegments(of: .test).select(from: host.store.map { ($0.key, $0.value) })
    var source = try #require(NotificationSource(EventID(trusted: ByteString(event)), in: records))
    for user in [source.sender, UserID(trusted: "@me:test")] {
      guard let user else { continue }
      source.members += Client.storedMember(user, in: .test).select(from: host.store.map { ($0.key, $0.value) })
    }
    return describe(host.client.notification(of: source, in: .test))
  }

  static func describe(_ outcome: NotificationOutcome) -> String {
    switch outcome {
    case .filteredOut: "filtered out"
    case .redacted: "redacted"
    case .content(let content):
      "\(content.title): \(content.body)" + (content.isHighlight ? " !" : "") + (content.isNoisy ? " ♪" : "")
        + (content.isEdited ? " (edited)" : "")
    }
  }

  /// A group with a name, as another process finds it.
  static func stored(_ events: [String], count: Int = 3, direct: Bool = false) -> Host {
    var host = Host.signedIn()
    let name = Wire.event("m.room.name", "$n", #"{"name":"Tea"}"#, stateKey: "")
    let data = #","account_data":{"events":[{"type":"m.direct","content":{"@alice:test":["!room:test"]}}]}"#
    host.sync(
      Wire.join(events, state: Wire.members + [name], extra: #","summary":{"m.joined_member_count":\#(count)}"#),
      extra: direct ? data : "")
    return host.restarted()
  }

  static func message(_ content: String) -> String { Wire.event("m.room.message", "$1", content) }

  @Test(arguments: [
    (#"{"msgtype":"m.text","body":"hot"}"#, "Alice in Tea: hot"),
    (#"{"msgtype":"m.emote","body":"waves"}"#, "Alice in Tea: * Alice waves"),
    (#"{"msgtype":"m.image","body":"a.png","url":"mxc://test/a"}"#, "Alice in Tea: sent a picture"),
    (#"{"msgtype":"m.file","body":"a.pdf","url":"mxc://test/a"}"#, "Alice in Tea: sent the file a.pdf"),
    (#"{"msgtype":"m.text","body":"Me?","m.mentions":{"user_ids":["@me:test"]}}"#, "Alice in Tea: Me? ! ♪"),
    (#"{"msgtype":"m.notice","body":"hot"}"#, "filtered out"), ("{}", "redacted")
  ]) func `a message is told as what it is`(content: String, told: String) throws {
    #expect(try Self.told("$1", Self.stored([Self.message(content)])) == told)
  }

  @Test func `in a direct chat the sender is the title, and in a room of two it sounds`() throws {
    let host = Self.stored([Wire.message("hot", "$1")], count: 2, direct: true)
    #expect(try Self.told("$1", host) == "Alice: hot ♪")
  }

  @Test func `an encrypted message says who, own ones are none`() throws {
    let events = [
      Wire.event("m.room.encrypted", "$1", #"{"algorithm":"m.megolm.v1.aes-sha2","ciphertext":"x"}"#),
      Wire.message("mine", "$2", by: "@me:test")
    ]
    let host = Self.stored(events)
    #expect(try Self.told("$1", host) == "Alice in Tea: sent an encrypted message")
    #expect(try Self.told("$2", host) == "filtered out")
  }

  @Test func `what was edited is told as it is now, what was redacted not at all`() throws {
    let edit =
      #"{"msgtype":"m.text","body":"* cold","m.new_content":{"msgtype":"m.text","body":"cold"},"m.relates_to":{"rel_type":"m.replace","event_id":"$1"}}"#
    let foreign = Wire.event("m.room.message", "$3", by: "@bob:test", edit)
    let events = [
      Wire.message("hot", "$1"), foreign, Wire.event("m.room.message", "$2", edit), Wire.message("gone", "$4"),
      Wire.event("m.room.redaction", "$5", #"{"redacts":"$4"}"#)
    ]
    let host = Self.stored(events)
    #expect(try Self.told("$1", host) == "Alice in Tea: cold (edited)")
    #expect(try Self.told("$2", host) == "filtered out")
    #expect(try Self.told("$4", host) == "redacted")
    #expect(NotificationSource(EventID(trusted: "$9"), in: []) == nil)
  }

  @Test func `a muted room is silent, for mentions too`() throws {
    var host = Self.stored([Self.message(#"{"body":"Me?","msgtype":"m.text","m.mentions":{"user_ids":["@me:test"]}}"#)])
    host.answer("/pushrules/", String(decoding: PushRuleSyncTests.muted.content(), as: UTF8.self))
    #expect(try Self.told("$1", host) == "filtered out")
  }

  @Test func `the notification of an invite names the inviter and the room`() throws {
    var host = Host.signedIn()
    let invite = Wire.event("m.room.member", "$i", by: "@alice:test", #"{"membership":"invite"}"#, stateKey: "@me:test")
    let name = Wire.event("m.room.name", "$n", #"{"name":"Tea"}"#, stateKey: "")
    host.sync(
      #""invite":{"!room:test":{"invite_state":{"events":[\#(name),\#(invite),\#(Wire.member("@alice:test", name: "Alice"))]}}}"#
    )
    let outcome = try #require(host.restarted().client.invitation(to: .test))
    #expect(Self.describe(outcome) == "Alice in Tea: invited you to Tea ♪")
    #expect(host.client.invitation(to: RoomID(trusted: "!other:test")) == nil)
  }

  @Test func `a room that is not known is told of by what the server says of it`() throws {
    let host = Host.signedIn()
    let state = (Wire.members + [Wire.event("m.room.name", "$n", #"{"name":"Tea"}"#, stateKey: "")]).joined(separator: ",")
    let json = try JSON.parse(Array(#"{"event":\#(Wire.message("hot", "$1")),"state":[\#(state)]}"#.utf8))
    let source = try #require(NotificationSource(context: json))
    #expect(Self.describe(host.client.notification(of: source, in: .test)) == "Alice in Tea: hot")
  }
}
