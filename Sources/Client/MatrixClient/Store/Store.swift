public import ClientCore

/// Keeps a client's records: one ordered map of byte keys to bytes. Calls come one after the other.
public protocol Store: Sendable {
  /// Takes it for one client, and opens it again where it was closed. Throws `inUse` where another client has it.
  func begin() async throws(StoreError)
  /// The records of that range, in its order.
  func load(_ range: StoreRange) async throws(StoreError) -> [StoreRecord]
  /// All or nothing; durable when it returns.
  func write(_ operations: [StoreOperation]) async throws(StoreError)
  /// Whether another process has written since this was last asked.
  func hasForeignWrites() async -> Bool
  /// Lets go of what it holds; a call after that throws `closed`, but for `begin`.
  func close() async
}

/// Why a store did not do what was asked. Each says what to do.
public enum StoreError: Error, Sendable {
  /// Another process, or another client or store of this one, syncs with that file: end it, or open it as a `StoreGuest`.
  case inUse(path: String)
  /// There is no store at that path: a guest makes none. Let the owner sign in first.
  case missing(path: String)
  /// A newer version of this library wrote the file: update the program.
  case newer(path: String, version: Int)
  /// The disk is full: make room and start again.
  case full
  /// The file is damaged. What can be saved of it is, when it is opened again; the damaged file stays beside it.
  case corrupt(path: String)
  /// The system refuses: look at the folder's permissions, and at the disk.
  case system(path: String, reason: String)
  /// A guest may only put messages into the inbox.
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
    case .full: "the disk is full"
    case .corrupt(let path): "\(path) is damaged; open it again to save what can be saved"
    case .system(let path, let reason): "\(path) cannot be used: \(reason)"
    case .notOwner: "only the process that syncs may change the store"
    case .closed: "the store is closed"
    }
  }
}
