import JSON
import MatrixModel
import Olm

/// Keys of a room for somebody who is invited. Spec: Client-Server API, "Sharing keys between users".
package struct RoomKeyBundle: Sendable {
  /// Of the decrypted file.
  package static let bytesLimit = 50 * 1_024 * 1_024
  package static let sessionLimit = 20_000

  package let keys: [RoomKey]

  /// Returns the text of a bundle before it is encrypted: those of the keys that members who come later may get. nil if there are none.
  ///
  /// - Parameter keys: of one room.
  package static func text(of keys: [RoomKey]) -> [UInt8]? {
    let shared = keys.filter { $0.sharesHistory }.suffix(sessionLimit)
    guard !shared.isEmpty else { return nil }
    return JSONWriter.object { writer in
      writer.key("room_keys")
      writer.array { writer in
        for key in shared { ExportedRoomKey(key).write(for: .bundle, to: &writer) }
      }
      writer.array("withheld", keys.filter { !$0.sharesHistory }.suffix(sessionLimit)) { key, writer in
        writer.object { writer in
          writer.member("algorithm", Algorithm.megolm)
          writer.member("code", WithheldCode.historyNotShared.text)
          writer.member("room_id", key.room)
          writer.member("session_id", key.id)
          writer.member("sender_key", base64: ExportedRoomKey(key).sender.bytes)
        }
      }
    }
  }

  /// - Parameters:
  ///   - room: the one that the giver has invited to. Keys of others are left out.
  ///   - giver: by whose word alone these keys are what they say.
  package init(_ text: [UInt8], of room: RoomID, from giver: UserID) throws(RoomKeyRefusal) {
    guard text.count <= Self.bytesLimit, let json = try? JSON.parse(text), let list = json["room_keys"], list.isArray else {
      throw .malformed
    }
    var keys: [RoomKey] = []
    for element in list.elements.prefix(Self.sessionLimit) {
      guard let exported = try? ExportedRoomKey(element, from: .bundle), exported.room == room else { continue }
      var key = exported.roomKey
      key.giver = giver
      keys.append(key)
    }
    self.keys = keys
  }
}
