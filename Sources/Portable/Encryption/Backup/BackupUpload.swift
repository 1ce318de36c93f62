import JSON
import MatrixModel
import Olm

/// Encrypted sessions for `PUT /room_keys/keys`.
package struct BackupUpload: Sendable {
  struct Session: Sendable {
    let name: RoomKeys.Name
    let firstIndex: UInt32
    let isVerified: Bool
    private let message: BackupCipher.Message

    init?(_ key: RoomKey, isVerified: Bool, to backup: Curve25519Key, random: inout SecretSource) {
      var writer = JSONWriter()
      ExportedRoomKey(key).write(for: .backup, to: &writer)
      guard let message = try? BackupCipher.encrypt(writer.bytes, to: backup, random: &random) else { return nil }
      name = key.name
      firstIndex = key.session.firstIndex
      self.isVerified = isVerified
      self.message = message
    }

    fileprivate func write(to writer: inout JSONWriter) {
      writer.member("first_message_index", Int64(firstIndex))
      writer.member("forwarded_count", 0)
      writer.member("is_verified", isVerified)
      writer.key("session_data")
      writer.object { writer in
        writer.member("ephemeral", base64: message.ephemeral.bytes)
        writer.member("ciphertext", base64: message.ciphertext)
        writer.member("mac", base64: message.mac)
      }
    }
  }

  /// The query parameter `version`.
  package let version: ByteString
  let sessions: [Session]

  /// The body of the request.
  package var body: [UInt8] {
    JSONWriter.object { writer in
      writer.key("rooms")
      writer.object { writer in
        for room in Set(sessions.map { $0.name.room }).ordered() {
          writer.key(room)
          writer.object { write(room, to: &$0) }
        }
      }
    }
  }

  private func write(_ room: RoomID, to writer: inout JSONWriter) {
    writer.key("sessions")
    writer.object { writer in
      for session in sessions where session.name.room == room {
        writer.key(session.name.session)
        writer.object { session.write(to: &$0) }
      }
    }
  }
}
