import JSON
import MatrixModel
import Olm

/// A room key outside of this device. Backups, key files and bundles write the same object with small differences. Nothing in it proves the device
/// that it names. Spec: Client-Server API, "Key exports", "Server-side key backups" and "Sharing keys between users".
package struct ExportedRoomKey: Sendable {
  package enum Place: Sendable {
    /// The room and the session are known from beside the object.
    case backup
    case file
    /// All sessions of a bundle are those that members who come later may get.
    case bundle
  }

  package let room: RoomID
  package let session: InboundGroupSession
  /// The device that the session is said to be of.
  package let sender: Curve25519Key
  /// The fingerprint of the device; nil if it is not known.
  package let fingerprint: Ed25519Key?
  package let sharesHistory: Bool

  package init(_ key: RoomKey) {
    room = key.room
    session = key.session
    sharesHistory = key.sharesHistory
    switch key.origin {
    case .proven(let owner):
      sender = owner.identity
      fingerprint = owner.signing
    case .claimed(let identity):
      sender = identity
      fingerprint = nil
    }
  }

  /// - Parameters:
  ///   - name: the room and session that the key has to be of; nil if the object alone says so.
  package init(_ json: JSON, from place: Place, as name: RoomKeys.Name? = nil) throws(RoomKeyRefusal) {
    guard json.text("algorithm") == Algorithm.megolm else { throw .unknownAlgorithm }
    guard let room = RoomID(json["room_id"]) ?? name?.room, let sender = json.curve25519Key("sender_key"),
      let bytes = json.base64("session_key"), let session = try? InboundGroupSession(exportedKey: bytes)
    else { throw .malformed }
    let id = ByteString(decoding: session.id)
    // A backup names the session beside the object only.
    guard json["session_id"].map({ $0.text == id }) ?? (name != nil), name.map({ $0.room == room && $0.session == id }) ?? true
    else {
      throw .malformed
    }
    self.room = room
    self.session = session
    self.sender = sender
    fingerprint = json["sender_claimed_keys"]?.ed25519Key("ed25519")
    let isShared = json.bool("shared_history") ?? json.bool("org.matrix.msc3061.shared_history") ?? false
    sharesHistory = place == .bundle || isShared
  }

  package var roomKey: RoomKey { RoomKey(room, session, .claimed(identity: sender), sharesHistory: sharesHistory) }

  /// The object with the key from its first index on. It is a secret: it leaves this device encrypted only.
  package func write(for place: Place, to writer: inout JSONWriter) {
    guard let key = try? session.exportedKey(at: session.firstIndex) else { return writer.null() }
    writer.object { writer in
      writer.member("algorithm", Algorithm.megolm)
      if place != .backup {
        writer.member("room_id", room)
        writer.member("session_id", ByteString(decoding: session.id))
      }
      writer.member("sender_key", base64: sender.bytes)
      writer.key("sender_claimed_keys")
      writer.object { if let fingerprint { $0.member("ed25519", base64: fingerprint.bytes) } }
      writer.member("session_key", base64: key.exposed())
      guard place != .bundle else { return }
      writer.array("forwarding_curve25519_key_chain", [] as [ByteString]) { $1.write($0) }
      writer.member("shared_history", sharesHistory)
      // The name that was in use before spec 1.19.
      writer.member("org.matrix.msc3061.shared_history", sharesHistory)
    }
  }

  // MARK: Key files

  /// Returns the text of a key file before it is encrypted.
  package static func file(of keys: [RoomKey]) -> [UInt8] {
    var writer = JSONWriter()
    writer.array { writer in
      for key in keys { ExportedRoomKey(key).write(for: .file, to: &writer) }
    }
    return writer.bytes
  }

  /// Returns the keys of a decrypted key file, and how many of it are unusable.
  package static func keys(ofFile text: [UInt8]) throws(RoomKeyRefusal) -> (keys: [RoomKey], refused: Int) {
    guard let json = try? JSON.parse(text), json.isArray else { throw .malformed }
    var (keys, refused): ([RoomKey], Int) = ([], 0)
    for element in json.elements {
      if let key = try? ExportedRoomKey(element, from: .file) { keys.append(key.roomKey) } else { refused += 1 }
    }
    return (keys, refused)
  }
}
