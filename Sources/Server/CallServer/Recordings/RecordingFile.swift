import Glibc

/// A recorded file that is open. It closes with its last owner; everything blocks.
struct RecordingFile: ~Copyable {
  private let path: String
  private let descriptor: Int32
  private(set) var bytes: Int64

  init(creating path: String) throws(RecordingFileError) {
    self.path = path
    bytes = 0
    descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw RecordingFileError(path) }
  }

  /// Returns nil if there is no such file.
  init?(reading path: String) { self.init(path, O_RDONLY) }

  /// Returns nil if there is no such file.
  init?(changing path: String) { self.init(path, O_RDWR) }

  private init?(_ path: String, _ mode: Int32) {
    let descriptor = open(path, mode | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      return nil
    }
    self.path = path
    self.descriptor = descriptor
    bytes = Int64(status.st_size)
  }

  deinit { close(descriptor) }

  /// Fewer at the end.
  func read(at offset: Int64, count: Int) -> [UInt8] {
    guard offset >= 0, count > 0 else { return [] }
    var content = [UInt8](repeating: 0, count: Int(min(Int64(count), max(0, bytes - offset))))
    var done = 0
    while done < content.count {
      let result = content.withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress! + done, $0.count - done, off_t(offset) + done)
      }
      if result < 0, errno == EINTR { continue }
      guard result > 0 else { break }
      done += result
    }
    return Array(content[..<done])
  }

  mutating func append(_ content: [UInt8]) throws(RecordingFileError) {
    try write(content, at: bytes)
    bytes += Int64(content.count)
  }

  func write(_ content: [UInt8], at offset: Int64) throws(RecordingFileError) {
    var done = 0
    while done < content.count {
      let result = content.withUnsafeBytes { pwrite(descriptor, $0.baseAddress! + done, $0.count - done, off_t(offset) + done) }
      if result < 0, errno == EINTR { continue }
      guard result > 0 else { throw RecordingFileError(path) }
      done += result
    }
  }

  mutating func truncate(to count: Int64) throws(RecordingFileError) {
    guard ftruncate(descriptor, off_t(count)) == 0 else { throw RecordingFileError(path) }
    bytes = count
  }
}
