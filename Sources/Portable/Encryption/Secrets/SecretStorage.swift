import JSON
import MatrixModel
import Olm

/// Remembers the key of secret storage that the user has opened. A server that puts another in its place, such as one with a weaker passphrase,
/// is noticed: the user is asked for the recovery key again before anything is encrypted for it.
package struct SecretStorage: Sendable {
  private(set) var pinned: StorageKeyDescription?

  package init() {}

  /// Whether account data describes the key that was opened last, or none was.
  package func isFamiliar(_ description: StorageKeyDescription) -> Bool { pinned.map { $0.isSameKey(as: description) } ?? true }

  /// Opens the storage with a key that the user gives, and pins it if it is checked.
  package mutating func open(_ description: StorageKeyDescription, with secret: Secret) throws(SecretStorageError) -> StorageKey
  {
    let key = try description.key(secret)
    if key.isChecked { pinned = description }
    return key
  }

  // MARK: Record

  var record: [UInt8] {
    JSONWriter.record { writer in
      guard let pinned else { return }
      writer.member("id", pinned.id)
      writer.key("key")
      writer.object { pinned.write(to: &$0) }
    }
  }

  init(record bytes: [UInt8]) throws(RecordRefusal) {
    let json = try JSON.record(bytes)
    guard let stored = json["key"] else { return }
    guard let id = json.text("id"), let description = try? StorageKeyDescription(stored, id: id) else { throw .unreadable }
    pinned = description
  }
}

extension RecordNames {
  static let secretStorage: ByteString = "e/storage"
}
