import ClientCore
import JSON

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A store's file that SQLite cannot use. It is renamed and kept for examination.
enum DamagedFile {
  /// Replaces it by a new file, with the readable records that a sync does not bring again.
  static func replace(_ path: String, key: StoreKeySource) throws(StoreError) -> (file: SQLiteFile, name: String) {
    let saved = salvage(path, key)
    var number = 1
    while access("\(path)-damaged-\(number)", F_OK) == 0 { number += 1 }
    let name = "\(path)-damaged-\(number)"
    for suffix in ["", "-wal", "-shm"] where access(path + suffix, F_OK) == 0 {
      guard rename(path + suffix, name + suffix) == 0 else {
        throw .system(path: path, reason: String(cString: strerror(errno)))
      }
    }
    try SQLiteStore.create(path)
    let file = try SQLiteFile(path: path, isOwner: true, key: key)
    try file.write(saved.map { .put(key: $0.key, value: $0.value) })
    return (file, name)
  }

  /// Reads the records from both ends up to the damage, without the index. The important records are written early and late.
  private static func salvage(_ path: String, _ key: StoreKeySource) -> [StoreRecord] {
    guard let file = try? SQLiteFile(path: path, isOwner: false, key: key) else { return [] }
    var saved: [ByteString: StoreRecord] = [:]
    for isForward in [true, false] {
      file.scan(isForward: isForward) { record in
        if Client.irreplaceableRecords.contains(where: { $0.contains(record.key) }) { saved[record.key] = record }
      }
    }
    return saved.values.sorted { $0.key < $1.key }
  }
}
