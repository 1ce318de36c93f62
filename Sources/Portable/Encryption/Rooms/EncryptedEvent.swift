import JSON
import MatrixModel
import Olm

/// An `m.room.encrypted` of a room's timeline. Spec: Client-Server API, "m.megolm.v1.aes-sha2".
package struct EncryptedEvent: Sendable {
  package let id: EventID
  package let room: RoomID
  package let sender: UserID
  /// Milliseconds since 1970, as the server says.
  package let timestamp: Int64
  /// The session's ID. Together with the room it alone finds the key: what the event says of a device proves nothing.
  package let session: ByteString
  let ciphertext: [UInt8]
  /// It stands beside the ciphertext, for servers.
  let relation: JSON?
  /// Whether the user had joined when it was sent; nil if the server does not say. Spec: Client-Server API, `membership` of `UnsignedData`.
  let wasJoined: Bool?

  package var name: RoomKeys.Name { RoomKeys.Name(room, session) }

  /// - Parameter room: of the sync or the request that the event came with.
  package init(_ event: Event, in room: RoomID) throws(Undecryptable) {
    guard event.type == .encrypted, event.stateKey == nil, let id = event.eventID, let sender = event.sender else {
      throw .damaged
    }
    let content = event.content
    guard content.text("algorithm") == Algorithm.megolm else { throw .unknownAlgorithm }
    guard let session = content.text("session_id"), session.count <= EncryptionLimits.sessionIDBytes,
      let text = content.text("ciphertext"), let ciphertext = Base64.decode(Array(text.utf8))
    else { throw .damaged }
    self.id = id
    self.room = room
    self.sender = sender
    timestamp = event.originServerTimestamp ?? 0
    self.session = session
    self.ciphertext = ciphertext
    relation = content["m.relates_to"]
    wasJoined = event.unsigned?["membership"].map { $0.isString("join") }
  }

  /// Whether both are the same event. Two that a server gives the same ID need not be.
  func isSame(as other: EncryptedEvent) -> Bool {
    id == other.id && room == other.room && sender == other.sender && timestamp == other.timestamp && session == other.session
      && ciphertext == other.ciphertext
  }
}

/// What an encrypted event says.
package struct ClearEvent: Sendable {
  package let type: EventType
  /// As it would be unencrypted: the relation is the one beside the ciphertext.
  package let content: JSON
  package let origin: RoomKey.Origin
  /// Who gave the key to the user when they invited them.
  package let giver: UserID?

  init(_ plaintext: [UInt8], of event: EncryptedEvent, _ origin: RoomKey.Origin, giver: UserID? = nil) throws(Undecryptable) {
    guard let json = try? JSON.parse(plaintext), let type = EventType(json["type"]), let content = json["content"],
      content.isObject
    else { throw .damaged }
    guard json.text("room_id") == event.room.text else { throw .ofAnotherRoom }
    // A server checks who may redact; of one that it cannot read nobody has.
    guard type != .redaction else { throw .damaged }
    // Spec: "Forming relationships between events": the one in the ciphertext is ignored, also where there is no other.
    let related = try? content.replacing(["m.relates_to"]) { writer in
      if let relation = event.relation { writer.member("m.relates_to", relation) }
    }
    guard let related else { throw .damaged }
    self.type = type
    self.content = related
    self.origin = origin
    self.giver = giver
  }
}
