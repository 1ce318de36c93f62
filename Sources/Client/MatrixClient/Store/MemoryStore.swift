public import ClientCore
import JSON

/// A store in memory, for the life of the process.
public actor MemoryStore: Store {
  private var records: [ByteString: [UInt8]] = [:]
  private var hasClient = false

  public init() {}

  public func begin() throws(StoreError) {
    guard !hasClient else { throw .inUse(path: "the memory store") }
    hasClient = true
  }

  public func load(_ range: StoreRange) -> [StoreRecord] { range.select(from: records.map { ($0.key, $0.value) }) }

  public func write(_ operations: [StoreOperation]) {
    for operation in operations {
      switch operation {
      case .put(let key, let value): records[key] = value
      case .delete(let key): records[key] = nil
      case .deleteAll(let prefix): records = records.filter { !$0.key.utf8.starts(with: prefix.utf8) }
      }
    }
  }

  public func hasForeignWrites() -> Bool { false }
  /// Closes the store. The records stay for the next client.
  public func close() { hasClient = false }
}
