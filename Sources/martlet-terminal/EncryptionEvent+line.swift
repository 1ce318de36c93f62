import JSON
import MatrixClient
import MatrixModel
import Transcripts

/// What `read --follow` says of keys.
extension EncryptionEvent {
  /// With a line break.
  func text(at time: Int64) -> String { HarmlessText.line(Clock.text(time)) + "  -- " + HarmlessText.line(english) + "\n" }

  func write(to writer: inout JSONWriter, in room: RoomID, at time: Int64) {
    writer.member("room_id", room)
    writer.member("kind", "keys")
    writer.member("keys", name)
    writer.member("user_id", user)
    if let device { writer.member("device_id", device) }
    writer.member("seen_ts", time)
    writer.member("text", ByteString(english))
  }

  private var name: ByteString {
    switch self {
    case .deviceAppeared: "device_appeared"
    case .deviceGone: "device_gone"
    case .deviceRefused: "device_refused"
    case .signatureHidden: "signature_hidden"
    case .identityChanged: "identity_changed"
    case .identityHidden: "identity_hidden"
    case .namesCollided: "names_collided"
    }
  }
}
