import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

/// A session of a room, and its keys as they come from different places.
struct TestSession {
  let device: TestDevice
  var outbound: OutboundRoom
  private let first: InboundGroupSession

  init(
    _ room: RoomID = RoomID(trusted: "!tea:one.example"), by device: TestDevice = TestDevice(), seed: String = "a session",
    sharesHistory: Bool = true
  ) throws {
    var random = SecretSource.repeating(seed: Array(seed.utf8))
    self.device = device
    outbound = OutboundRoom(room, sharesHistory: sharesHistory, random: &random, at: 0)
    first = try InboundGroupSession(sharedKey: outbound.session.sharedKey.exposed())
  }

  var room: RoomID { outbound.room }
  var name: RoomKeys.Name { RoomKeys.Name(room, outbound.id) }

  var owner: RoomKey.Owner {
    RoomKey.Owner(user: device.own.user, identity: device.own.account.identity.key, signing: device.own.account.signing.key)
  }

  func proven(by owner: RoomKey.Owner? = nil) -> RoomKey {
    RoomKey(room, first, .proven(owner ?? self.owner), sharesHistory: outbound.sharesHistory)
  }

  /// As from a backup, from an index on.
  func claimed(at index: UInt32 = 0) throws -> RoomKey {
    let exported = try InboundGroupSession(exportedKey: first.exportedKey(at: index).exposed())
    return RoomKey(room, exported, .claimed(identity: owner.identity), sharesHistory: outbound.sharesHistory)
  }

  /// A message of the session, as it comes to the room.
  mutating func event(_ body: String, by sender: UserID = bob) throws -> EncryptedEvent {
    let content = try outbound.encrypt(.message, try JSON.object { $0.member("body", body) }, from: device.own)
    return try event(content, by: sender)
  }

  func event(_ content: [UInt8], by sender: UserID = bob) throws -> EncryptedEvent {
    let json = try JSON.object { writer in
      writer.member("type", "m.room.encrypted")
      writer.member("event_id", "$1")
      writer.member("sender", sender)
      writer.member("origin_server_ts", 1_000)
      writer.member("content", raw: content)
    }
    return try EncryptedEvent(try #require(Event(json)), in: room)
  }
}
