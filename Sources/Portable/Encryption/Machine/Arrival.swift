import JSON
import MatrixModel
import Olm

/// What came in a sync for this device, decrypted.
enum Arrival: Sendable {
  case event(OlmPayload)
  case roomKey(RoomKey)
  /// From another device of the user, if it was asked for.
  case forwarded(OlmPayload, RoomKeys.Name)
  /// Of a room's history.
  case offer(OlmPayload)
  case withheld(UserID, RoomKeys.Name, WithheldCode)
  case verification(VerificationMessage)
  /// The content of an `m.secret.request`.
  case secretRequest(JSON, from: UserID)
  case secret(OlmPayload)
  /// A device has begun a session, as it could not open messages of this one: the keys of these sessions may have been in them.
  case begun(DeviceKeys, lost: [RoomKeys.Name])

  /// The sessions that it is about.
  var names: [RoomKeys.Name] {
    switch self {
    case .event, .offer, .verification, .secretRequest, .secret: []
    case .roomKey(let key): [key.name]
    case .forwarded(_, let name), .withheld(_, let name, _): [name]
    case .begun(_, let lost): lost
    }
  }

  /// nil where nothing has to be done.
  init?(_ payload: OlmPayload) {
    switch payload.type {
    case "m.room_key":
      guard let key = try? RoomKey(payload) else { return nil }
      self = .roomKey(key)
    case "m.forwarded_room_key":
      guard let key = try? ExportedRoomKey(payload.content, from: .file) else { return nil }
      self = .forwarded(payload, key.roomKey.name)
    case "m.room_key_bundle": self = .offer(payload)
    // The machine looks which keys were lost.
    case "m.dummy": return nil
    case "m.secret.send": self = .secret(payload)
    default:
      let message = VerificationMessage(payload.type, payload.content, from: payload.sender)
      self = message.map { .verification($0) } ?? .event(payload)
    }
  }

  /// An `m.room_key.withheld`, which is not encrypted. One about all sessions of a device (`m.no_olm`) names none.
  init?(withheld content: JSON, from sender: UserID) {
    guard content.text("algorithm") == Algorithm.megolm, let room = RoomID(content["room_id"]),
      let session = content.text("session_id"), session.count <= EncryptionLimits.sessionIDBytes,
      let code = content.text("code").flatMap({ WithheldCode($0) })
    else { return nil }
    self = .withheld(sender, RoomKeys.Name(room, session), code)
  }
}
