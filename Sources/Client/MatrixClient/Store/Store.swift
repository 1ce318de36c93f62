public import ClientCore

/// Stores a client's records: an ordered map of byte keys to bytes. The client makes one call at a time.
public protocol Store: Sendable {
  /// Reserves the store for one client, and opens it again if it was closed. Throws `inUse` if another client has it.
  func begin() async throws(StoreError)
  /// Returns the records of a range, in its order.
  func load(_ range: StoreRange) async throws(StoreError) -> [StoreRecord]
  /// Carries out all operations or none. They are durable when it returns.
  func write(_ operations: [StoreOperation]) async throws(StoreError)
  /// Returns whether another process has written since the last call.
  func hasForeignWrites() async -> Bool
  /// Releases its resources. After that, every call except `begin` throws `closed`.
  func close() async
}

/// The reason why a call to a store failed. Each case says what to do.
public enum StoreError: Error, Sendable {
  /// Another process syncs with the file, or another client or store of this process. End it, or open the file as a `StoreGuest`.
  case inUse(path: String)
  /// There is no store at the path, and a guest does not create one. Sign in with the owner first.
  case missing(path: String)
  /// A newer version of this library wrote the file. Update the program.
  case newer(path: String, version: Int)
  /// The key does not open the file: its passphrase is wrong, or the file with the key (`-key`) is missing. Give the right one; without it, remove the
  /// store and sign in again.
  case wrongKey(path: String)
  /// The disk is full. Free some space and start again.
  case full
  /// The file is damaged. Open it again: the store then saves what it can, and keeps the damaged file beside it.
  case corrupt(path: String)
  /// The system refuses access. Check the permissions of the folder, and the disk.
  case system(path: String, reason: String)
  /// A guest can only put messages into the inbox.
  case notOwner
  /// `close` was called.
  case closed
}

extension StoreError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .inUse(let path): "\(path) is in use by another client"
    case .missing(let path): "there is no store at \(path)"
    case .newer(let path, let version): "\(path) is of version \(version), which this program does not know: update it"
    case .wrongKey(let path):
      "the key of \(path) does not open it: the passphrase is wrong, or \(path)-key is missing; put it back, or remove the store and sign in again"
    case .full: "the disk is full"
    case .corrupt(let path): "\(path) is damaged; open it again to save what can be saved"
    case .system(let path, let reason): "\(path) cannot be used: \(reason)"
    case .notOwner: "only the process that syncs may change the store"
    case .closed: "the store is closed"
    }
  }
}
