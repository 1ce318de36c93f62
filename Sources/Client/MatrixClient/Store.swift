import ClientCore
import JSON

/// Keeps a client's records. Calls come one after the other.
public protocol Store: Sendable {
  /// Records whose key begins with `prefix`, in key order.
  func load(prefix: ByteString) async -> [StoreRecord]
  /// All or nothing; false where it could not be made durable.
  func write(_ operations: [StoreOperation]) async -> Bool
}

/// Records for the life of the process.
public actor MemoryStore: Store {
  private var records = RecordTable()

  public init() {}

  public func load(prefix: ByteString) -> [StoreRecord] { records.load(prefix) }

  public func write(_ operations: [StoreOperation]) -> Bool {
    records.apply(operations)
    return true
  }
}

/// The records in memory, which both stores answer from.
struct RecordTable: Sendable {
  private(set) var values: [ByteString: [UInt8]] = [:]

  func load(_ prefix: ByteString) -> [StoreRecord] {
    values.filter { $0.key.utf8.starts(with: prefix.utf8) }.map { StoreRecord(key: $0.key, value: $0.value) }
      .sorted { $0.key < $1.key }
  }

  mutating func apply(_ operations: [StoreOperation]) {
    for operation in operations {
      switch operation {
      case .put(let key, let value): values[key] = value
      case .delete(let key): values[key] = nil
      case .deleteAll(let prefix): values = values.filter { !$0.key.utf8.starts(with: prefix.utf8) }
      }
    }
  }
}
