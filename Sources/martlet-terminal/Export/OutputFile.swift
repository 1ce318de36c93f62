import Files
import Glibc

/// A new file that is written from front to back.
final class OutputFile {
  private static let bufferBytes = 1 << 16
  private let path: String
  private let file: Int32
  private var buffer: [UInt8] = []
  /// Bytes written so far.
  private(set) var length: Int64 = 0

  init(_ path: String) throws(TerminalError) {
    self.path = path
    unlink(path)
    file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw Self.failed(path) }
    buffer.reserveCapacity(Self.bufferBytes * 2)
  }

  deinit { if file >= 0 { close(file) } }

  func append(_ text: String) throws(TerminalError) { try append(Array(text.utf8)) }

  func append(_ bytes: [UInt8]) throws(TerminalError) {
    buffer += bytes
    length += Int64(bytes.count)
    if buffer.count >= Self.bufferBytes { try flush() }
  }

  /// Until it is on disk.
  func finish() throws(TerminalError) {
    try flush()
    guard fsync(file) == 0 else { throw Self.failed(path) }
  }

  private func flush() throws(TerminalError) {
    var done = 0
    while done < buffer.count {
      let count = buffer.withUnsafeBytes { write(file, $0.baseAddress.map { $0 + done }, $0.count - done) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Self.failed(path) }
      done += count
    }
    buffer.removeAll(keepingCapacity: true)
  }

  private static func failed(_ path: String) -> TerminalError {
    .failed("\(path) cannot be written: \(String(cString: strerror(errno)))")
  }
}

/// A file's lines one after the other, and stretches of it.
final class LineFile {
  private let file: UnsafeMutablePointer<FILE>
  private var line: UnsafeMutablePointer<CChar>?
  private var capacity = 0

  init(_ path: String) throws(TerminalError) {
    guard let file = fopen(path, "re") else {
      throw .failed("\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
    self.file = file
  }

  deinit {
    free(line)
    fclose(file)
  }

  /// Without the line break; nil at the end.
  func next() -> [UInt8]? {
    let count = getline(&line, &capacity, file)
    guard count > 0, let line else { return nil }
    let bytes = UnsafeRawBufferPointer(start: line, count: count)
    return Array(bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...])
  }

  /// Does not move `next`.
  func bytes(at offset: Int64, count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let got = pread(fileno(file), &bytes, count, off_t(offset))
    return got == count ? bytes : []
  }
}

/// Folders of an export.
enum ExportFolder {
  /// The files in it, not the folders.
  static func names(in path: String) -> [String] { FolderOnDisk.names(in: path) ?? [] }

  /// With the files in it.
  static func remove(_ path: String) {
    for name in names(in: path) { unlink(path + "/" + name) }
    rmdir(path)
  }
}
