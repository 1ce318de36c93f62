import JSON
import MatrixModel
import Testing

@testable import ClientCore

/// What an account is told of beyond its push rules, and what not.
@Suite struct NotificationWishesTests {
  static func inRoom(_ events: [String], data: String = "", room: String = "") -> Host {
    var host = Host.signedIn()
    let name = Wire.event("m.room.name", "$n", #"{"name":"Tea"}"#, stateKey: "")
    let extra = #","summary":{"m.joined_member_count":3},"account_data":{"events":[\#(room)]}"#
    host.sync(
      Wire.join(events, state: Wire.members + [name], extra: extra),
      extra: #","account_data":{"events":[\#(data)]}"#)
    return host
  }

  static func event(_ text: String) throws -> Event { try #require(Event(try JSON.parse(Array(text.utf8)))) }

  static let reactions = #"{"type":"martlet.reaction_notifications","content":{"enabled":true}}"#

  static func reaction(to event: String) -> String {
    Wire.event(
      "m.reaction", "$r", by: "@alice:test",
      #"{"m.relates_to":{"rel_type":"m.annotation","event_id":"\#(event)","key":"👍"}}"#)
  }

  static func snooze(_ until: Int64) -> String { #"{"type":"martlet.snooze","content":{"until":\#(until)}}"# }

  @Test func `a silent message does not notify, not even with a mention`() throws {
    let silent = Wire.event(
      "m.room.message", "$1",
      #"{"msgtype":"m.text","body":"Me?","m.mentions":{"user_ids":["@me:test"]},"martlet.silent":true}"#)
    let host = Self.inRoom([silent, Wire.message("hot", "$2")])
    #expect(host.client.pushActions(for: try Self.event(silent), in: .test)?.notifies == false)
    #expect(host.client.pushActions(for: try Self.event(Wire.message("hot", "$2")), in: .test)?.notifies == true)
    #expect(try NotificationContentTests.told("$1", host) == "filtered out")
    #expect(try NotificationContentTests.told("$2", host) == "Alice in Tea: hot")
  }

  @Test func `what was sent silently counts where the client counts`() {
    let encryption = Wire.event("m.room.encryption", "$e", #"{"algorithm":"m.megolm.v1.aes-sha2"}"#, stateKey: "")
    let silent = Wire.event("m.room.message", "$1", #"{"msgtype":"m.text","body":"hot","martlet.silent":true}"#)
    var host = Host.signedIn()
    host.sync(Wire.join([silent], state: Wire.members + [encryption]))
    #expect(host.client.room(.test)?.notificationCount == 1)
  }

  @Test func `a room that is snoozed is told of when its time is over, after a restart too`() throws {
    let message = Wire.message("hot", "$1")
    var host = Self.inRoom([message], room: Self.snooze(Host.signedIn().now + 60_000))
    let event = try Self.event(message)
    #expect(host.client.pushActions(for: event, in: .test)?.notifies == false)
    #expect(try NotificationContentTests.told("$1", host) == "filtered out")
    var next = host.restarted()
    #expect(next.client.room(.test)?.snoozedUntilMilliseconds == host.client.room(.test)?.snoozedUntilMilliseconds)
    #expect(next.client.pushActions(for: event, in: .test)?.notifies == false)
    next.now += 60_000
    next.command(.timeline(.openRoom(.test)))
    #expect(next.client.pushActions(for: event, in: .test)?.notifies == true)
    // Or when it is ended.
    host.sync(Wire.join([], extra: #","account_data":{"events":[\#(Self.snooze(0))]}"#))
    #expect(host.client.pushActions(for: event, in: .test)?.notifies == true)
  }

  @Test func `nothing notifies in the quiet hours of the account`() throws {
    let now = Host.signedIn().now / 60_000 % 1_440
    let hours = { (from: Int64, to: Int64) in
      #"{"type":"martlet.quiet_hours","content":{"from":\#((from + 1_440) % 1_440),"to":\#((to + 1_440) % 1_440)}}"#
    }
    let quiet = Self.inRoom([Wire.message("hot", "$1")], data: hours(now - 60, now + 60))
    #expect(quiet.client.isQuiet && quiet.restarted().client.isQuiet)
    #expect(try NotificationContentTests.told("$1", quiet) == "filtered out")
    let loud = Self.inRoom([Wire.message("hot", "$1")], data: hours(now + 60, now - 60))
    #expect(!loud.client.isQuiet)
    #expect(try NotificationContentTests.told("$1", loud) == "Alice in Tea: hot")
  }

  @Test func `a reaction to the user's message notifies if they want that`() throws {
    let events = [Wire.message("tea?", "$1", by: "@me:test"), Wire.message("hot", "$2"), Self.reaction(to: "$1")]
    let wanted = Self.inRoom(events, data: Self.reactions)
    let event = try Self.event(Self.reaction(to: "$1"))
    #expect(wanted.client.reactionTarget(of: event, in: .test)?.string == "$1")
    #expect(wanted.restarted().client.reactionTarget(of: event, in: .test)?.string == "$1")
    #expect(try told(wanted, target: "$1") == "Alice in Tea: reacted with 👍 to: tea?")
    #expect(wanted.client.room(.test)?.notificationCount == 0)
    #expect(try told(Self.inRoom(events), target: "$1") == "filtered out")
    let snoozed = Self.inRoom(events, data: Self.reactions, room: Self.snooze(4_000_000_000_000))
    #expect(snoozed.client.reactionTarget(of: event, in: .test) == nil)
  }

  @Test func `reactions to others, or in a muted room, do not notify`() throws {
    let events = [Wire.message("tea?", "$1", by: "@me:test"), Wire.message("hot", "$2"), Self.reaction(to: "$2")]
    #expect(try told(Self.inRoom(events, data: Self.reactions), target: "$2") == "filtered out")
    #expect(try told(Self.inRoom(events, data: Self.reactions), target: nil) == "filtered out")
    let rules = String(decoding: PushRuleSyncTests.muted.content(), as: UTF8.self)
    let muted = Self.inRoom(events, data: Self.reactions + #",{"type":"m.push_rules","content":\#(rules)}"#)
    #expect(muted.client.reactionTarget(of: try Self.event(Self.reaction(to: "$1")), in: .test) == nil)
  }

  private func told(_ host: Host, target: String?) throws -> String {
    let records = Client.newestSegments(of: .test).select(from: host.store.map { ($0.key, $0.value) })
    var source = try #require(NotificationSource(EventID(trusted: "$r"), in: records))
    #expect(source.reactionTarget != nil)
    if let target { source.target = NotificationSource(EventID(trusted: ByteString(target)), in: records)?.event }
    return NotificationContentTests.describe(host.client.notification(of: source, in: .test))
  }
}
