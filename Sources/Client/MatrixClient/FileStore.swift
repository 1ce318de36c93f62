import ClientCore
import Glibc
import JSON

/// Records in one file, a journal of batches. One process at a time.
///
/// The file is a row of batches. A batch is the length of its operations in bytes (4 bytes, little-endian), their FNV-1a checksum (8
/// bytes) and the operations. An operation is its kind (0 put, 1 delete, 2 delete all with the prefix), the length of the key (4),
/// the key, and for puts the length of the value (4) and the value. Reading ends at the first batch that is cut short or
/// does not fit its checksum: that one was never acknowledged. Opening rewrites the file without what is superseded.
public actor FileStore: Store {
  public enum Failure: Error, Sendable {
    /// `errno` of the call that failed.
    case system(code: Int32)
  }

  private let descriptor: Int32
  private var records = RecordTable()
  private var length: off_t

  /// The file holds an access token: only its owner may read it.
  public init(path: String) throws(Failure) {
    let old = FileStore.contents(of: path)
    var position = 0
    while let batch = JournalBatch.read(old, &position) { records.apply(batch) }
    let whole = JournalBatch.bytes(of: records.values.map { .put(key: $0.key, value: $0.value) })
    let temporary = path + ".new"
    let file = open(temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw .system(code: errno) }
    guard FileStore.append(whole, to: file), fsync(file) == 0, rename(temporary, path) == 0 else {
      let code = errno
      close(file)
      throw .system(code: code)
    }
    descriptor = file
    length = off_t(whole.count)
  }

  deinit { close(descriptor) }

  public func load(prefix: ByteString) -> [StoreRecord] { records.load(prefix) }

  public func write(_ operations: [StoreOperation]) -> Bool {
    let bytes = JournalBatch.bytes(of: operations)
    guard FileStore.append(bytes, to: descriptor), fdatasync(descriptor) == 0 else {
      // What is half there must not stand in front of a later batch.
      ftruncate(descriptor, length)
      lseek(descriptor, length, SEEK_SET)
      return false
    }
    length += off_t(bytes.count)
    records.apply(operations)
    return true
  }

  private static func append(_ bytes: [UInt8], to file: Int32) -> Bool {
    bytes.withUnsafeBytes { buffer in
      var done = 0
      while done < buffer.count {
        let count = Glibc.write(file, buffer.baseAddress.map { $0 + done }, buffer.count - done)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        done += count
      }
      return true
    }
  }

  private static func contents(of path: String) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(file, &buffer, buffer.count)
      guard count > 0 else { return bytes }
      bytes += buffer[..<count]
    }
  }
}
