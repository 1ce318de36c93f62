import JSON
import MatrixModel
import Olm

/// The session that this device encrypts a room's messages with, and the devices that can read it.
///
/// A value: store it after each call that changes it, before the message or the key leaves. Then no index is used twice, and nobody who has the
/// key is forgotten. Spec: Client-Server API, "m.megolm.v1.aes-sha2".
package struct OutboundRoom: Sendable {
  /// A device by its name and its key: another user's device may claim the same key.
  struct Holder: Hashable, Sendable {
    let user: UserID
    let device: DeviceID
    let identity: Curve25519Key
  }

  package let room: RoomID
  /// Milliseconds since 1970.
  package let createdAt: Int64
  /// Whether members who come later may get the key.
  package let sharesHistory: Bool
  var session: OutboundGroupSession
  /// Devices that have the key, or that it is on its way to, and the index of the first message that each can read.
  var holders: [Holder: UInt32] = [:]
  /// Who was told that they do not get the key, and why.
  var told: [Holder: WithheldCode] = [:]
  /// Whether somebody left who may have the key.
  private(set) var isOver = false
  /// Whether it is known who has it. One that was stored without is not used again.
  var hasHolders = true

  package init(_ room: RoomID, sharesHistory: Bool, random: inout SecretSource, at now: Int64) {
    self.init(room, OutboundGroupSession(random: &random), sharesHistory: sharesHistory, createdAt: now)
  }

  init(_ room: RoomID, _ session: OutboundGroupSession, sharesHistory: Bool, createdAt: Int64, isOver: Bool = false) {
    self.room = room
    self.session = session
    self.sharesHistory = sharesHistory
    self.createdAt = createdAt
    self.isOver = isOver
  }

  package var id: ByteString { ByteString(decoding: session.id) }

  // MARK: Rotation

  /// Somebody left, was removed or declined: they may have the key.
  package mutating func end() { isOver = true }

  /// Whether the next message needs a new session.
  package func isDue(
    _ encryption: RoomEncryption, _ recipients: Recipients, sharesHistory: Bool, at now: Int64
  ) -> Bool {
    if isOver || sharesHistory != self.sharesHistory { return true }
    if Int(session.index) >= encryption.rotationMessages { return true }
    // A clock that was set back tells nothing of the age.
    if !(0..<encryption.rotationMilliseconds).contains(now - createdAt) { return true }
    let readers = Set(recipients.readers.map { Holder($0) })
    return holders.keys.contains { !readers.contains($0) }
  }

  // MARK: Sharing

  /// The readers who do not have the key.
  package func missing(_ recipients: Recipients) -> [DeviceKeys] {
    recipients.readers.filter { holders[Holder($0)] == nil }
  }

  /// Hands out the content of `m.room_key`, which is signed once for all of them, device by device. Each that `send` has sent it to has the key
  /// then. Returns the others.
  package mutating func share(
    with devices: [DeviceKeys], _ send: (_ key: JSON, DeviceKeys) -> Bool
  ) throws(JSONError) -> [DeviceKeys] {
    let key = try content(session.sharedKey)
    return devices.filter { device in
      guard send(key, device) else { return true }
      holders[Holder(device)] = session.index
      told[Holder(device)] = nil
      return false
    }
  }

  /// The content of `m.room_key` for a device that could not open the message with it, from the index on that it had; nil for other devices.
  ///
  /// - Parameter own: the own copy of the key.
  func shareAgain(with device: DeviceKeys, knowing own: RoomKey) -> JSON? {
    guard let index = holders[Holder(device)], let key = try? session.sharedKey(at: index, knowing: own.session) else {
      return nil
    }
    return try? content(key)
  }

  private func content(_ key: Secret) throws(JSONError) -> JSON {
    try JSON.object { writer in
      writer.member("algorithm", Algorithm.megolm)
      writer.member("room_id", room)
      writer.member("session_id", id)
      writer.member("session_key", ByteString(decoding: Base64.encode(key.exposed())))
      writer.member("shared_history", sharesHistory)
      // The name that was in use before spec 1.19.
      writer.member("org.matrix.msc3061.shared_history", sharesHistory)
    }
  }

  /// The content of `m.room_key.withheld`; nil where the device was told before. It goes unencrypted.
  package mutating func withhold(
    _ withheld: Recipients.Withheld, from own: OwnKeys
  ) throws(JSONError) -> JSON? {
    guard told[Holder(withheld.device)] != withheld.code else { return nil }
    told[Holder(withheld.device)] = withheld.code
    return try JSON.object { writer in
      writer.member("algorithm", Algorithm.megolm)
      writer.member("code", withheld.code.text)
      writer.member("sender_key", ByteString(decoding: own.account.identity.key.text))
      // Without a session between both, no key of any room can be sent.
      guard withheld.code != .noOlm else { return }
      writer.member("room_id", room)
      writer.member("session_id", id)
    }
  }

  // MARK: Encrypting

  /// The content of `m.room.encrypted`.
  ///
  /// - Parameter content: its `m.relates_to` stands beside the ciphertext, so that servers can follow it.
  package mutating func encrypt(_ type: EventType, _ content: JSON, from own: OwnKeys) throws(OlmError) -> [UInt8] {
    guard let unrelated = try? content.replacing(["m.relates_to"], { _ in }) else { throw .malformed }
    let plaintext = JSONWriter.object { writer in
      writer.member("type", type)
      writer.member("content", unrelated)
      writer.member("room_id", room)
    }
    let ciphertext = try session.encrypt(plaintext)
    return JSONWriter.object { writer in
      writer.member("algorithm", Algorithm.megolm)
      writer.member("sender_key", ByteString(decoding: own.account.identity.key.text))
      writer.member("device_id", own.device)
      writer.member("session_id", id)
      writer.member("ciphertext", ByteString(decoding: Base64.encode(ciphertext)))
      if let relation = content["m.relates_to"] { writer.member("m.relates_to", relation) }
    }
  }

  /// The own copy of the key: this device reads what it has sent.
  package func ownKey(of own: OwnKeys) throws(OlmError) -> RoomKey {
    RoomKey(
      room, try InboundGroupSession(sharedKey: session.sharedKey.exposed()), .proven(RoomKey.Owner(own)),
      sharesHistory: sharesHistory)
  }
}

extension RoomKey.Owner {
  /// This device.
  init(_ own: OwnKeys) {
    self.init(user: own.user, identity: own.account.identity.key, signing: own.account.signing.key)
  }
}

extension OutboundRoom.Holder {
  init(_ device: DeviceKeys) {
    self.init(user: device.user, device: device.device, identity: device.identity)
  }
}
