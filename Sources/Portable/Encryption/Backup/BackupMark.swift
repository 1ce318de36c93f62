import JSON
import Olm

/// How a session is in the backup, as the server has said. A record of its own beside the session's keys: it changes without them.
package struct BackupMark: Equatable, Sendable {
  let version: ByteString
  let firstIndex: UInt32
  let isVerified: Bool

  init(version: ByteString, firstIndex: UInt32, isVerified: Bool) {
    self.version = version
    self.firstIndex = firstIndex
    self.isVerified = isVerified
  }

  /// Whether the backup has all that the key has.
  func covers(_ key: RoomKey, isVerified: Bool, in version: ByteString) -> Bool {
    self.version == version && firstIndex <= key.session.firstIndex && (self.isVerified || !isVerified)
  }

  // MARK: Record

  var record: [UInt8] {
    JSONWriter.record { writer in
      writer.key("backup")
      writer.object { writer in
        writer.member("version", version)
        writer.member("index", Int64(firstIndex))
        writer.member("verified", isVerified)
      }
    }
  }

  /// Reads a record. nil if it is another of the session's.
  init?(record bytes: [UInt8]) throws(RecordRefusal) {
    guard let json = try JSON.record(bytes)["backup"] else { return nil }
    guard let version = json.text("version"), let index = UInt32(exactly: try json.number("index")) else { throw .unreadable }
    self.init(version: version, firstIndex: index, isVerified: try json.flag("verified"))
  }
}
