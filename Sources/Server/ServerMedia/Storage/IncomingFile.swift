import CLinux
import Glibc
import ObjectStore

/// Content while it arrives: held in memory while it is little, else a file of its own; hashed as it grows, removed unless it
/// is kept.
///
/// One upload owns it and calls one method at a time, those that touch files on the blocking pool; that is what makes it
/// `Sendable`.
final class IncomingFile: @unchecked Sendable {
  private(set) var bytesCount: Int64 = 0
  private let folder: MediaFolder
  private var held: [UInt8] = []
  private var file: OpenFile?
  private let digest: ContentDigest
  /// Whether the file outlives this object, to be continued.
  private var isPartial = false
  /// Bytes of a partial file that are hashed: none before all have come.
  private var hashedBytes: Int64 = 0

  private struct OpenFile {
    let path: String
    let descriptor: Int32
  }

  /// Bytes that stay in memory until they are kept: each turn on the pool's threads costs more than hashing a small file.
  static let heldBytesLimit: Int64 = 64 << 10

  init(in folder: MediaFolder) throws {
    self.folder = folder
    guard let digest = ContentDigest() else { throw MediaFileError(folder.path) }
    self.digest = digest
  }

  /// With a file from the beginning, of which others may `read` what is written. Blocks.
  convenience init(onDiskIn folder: MediaFolder) throws {
    try self.init(in: folder)
    _ = try openFile()
  }

  /// What has come of an upload in parts, for more to be written behind it. It stays when this object goes, unless
  /// `hashPiece` has come to its end. Blocks.
  init(partOf mediaID: String, in folder: MediaFolder) throws {
    self.folder = folder
    let path = folder.partialPath(of: mediaID)
    guard let digest = ContentDigest() else { throw MediaFileError(path) }
    self.digest = digest
    let descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0 else { throw MediaFileError(path) }
    file = OpenFile(path: path, descriptor: descriptor)
    bytesCount = Int64(status.st_size)
    isPartial = true
  }

  deinit {
    if let file {
      close(file.descriptor)
      if !isPartial { unlink(file.path) }
    }
  }

  /// Takes a piece without touching a file. Answers false where there is too much for that: then it is for `write`.
  func hold(_ bytes: [UInt8]) -> Bool {
    guard file == nil, bytesCount + Int64(bytes.count) <= Self.heldBytesLimit else { return false }
    held += bytes
    hash(bytes)
    return true
  }

  func write(_ bytes: [UInt8]) throws {
    let file = try openFile()
    try Self.write(bytes, to: file)
    if isPartial { bytesCount += Int64(bytes.count) } else { hash(bytes) }
  }

  private func hash(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { digest.add($0) }
    bytesCount += Int64(bytes.count)
  }

  /// Hashes the next piece of a partial file that is whole now, the first one to begin with. Answers false when there is no more.
  func hashPiece() throws -> Bool {
    let file = try openFile()
    var piece = [UInt8](repeating: 0, count: Int(min(Self.hashedPieceBytes, bytesCount - hashedBytes)))
    let count = piece.withUnsafeMutableBytes { pread(file.descriptor, $0.baseAddress, $0.count, off_t(hashedBytes)) }
    guard count >= 0, count > 0 || piece.isEmpty else { throw MediaFileError(file.path) }
    piece.withUnsafeBytes { digest.add(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    hashedBytes += Int64(count)
    isPartial = hashedBytes < bytesCount
    return isPartial
  }

  /// Milliseconds of work: what others wait for on the pool's threads meanwhile.
  private static let hashedPieceBytes: Int64 = 4 << 20

  /// The file with everything so far.
  private func openFile() throws -> OpenFile {
    if let file { return file }
    var template = Array((folder.path + "/incoming/XXXXXX").utf8CString)
    let descriptor = clinux_temporary_file(&template)
    guard descriptor >= 0 else { throw MediaFileError(folder.path + "/incoming") }
    let opened = OpenFile(
      path: template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }, descriptor: descriptor)
    file = opened
    try Self.write(held, to: opened)
    held = []
    return opened
  }

  private static func write(_ bytes: [UInt8], to file: OpenFile) throws {
    try bytes.withUnsafeBytes { buffer in
      var written = 0
      while written < buffer.count {
        let count = Glibc.write(file.descriptor, buffer.baseAddress! + written, buffer.count - written)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw MediaFileError(file.path) }
        written += count
      }
    }
  }

  /// SHA-256 of everything written, in hexadecimal. Called once, after the last byte.
  func hash() -> String { digest.finish() }

  /// Everything that was written, as long as this object is there.
  var content: Bucket.Content { file.map { .file(path: $0.path, bytes: bytesCount) } ?? .bytes(held) }

  /// Bytes that are in the file. Blocks.
  func read(at offset: Int64, count: Int) throws -> [UInt8] {
    let file = try openFile()
    return try [UInt8](unsafeUninitializedCapacity: count) { buffer, read in
      while read < count {
        let more = pread(file.descriptor, buffer.baseAddress! + read, count - read, off_t(offset) + read)
        if more < 0, errno == EINTR { continue }
        guard more > 0 else { throw MediaFileError(file.path) }
        read += more
      }
    }
  }

  /// Leaves the parts of an upload, which are whole, to another try.
  func leaveParts() { isPartial = true }

  /// Moves the whole, synced file to the place of its hash, unless the same content is there.
  func keep(as hash: String) throws {
    let place = folder.path(of: hash)
    if access(place, R_OK) != 0 { try keep(at: place) }
  }

  /// Moves the whole, synced file to `place`.
  func keep(at place: String) throws {
    guard let slash = place.lastIndex(of: "/") else { return }
    let parent = String(place[..<slash])
    let file = try openFile()
    guard mkdir(parent, 0o700) == 0 || errno == EEXIST else { throw MediaFileError(parent) }
    guard fsync(file.descriptor) == 0, rename(file.path, place) == 0 else { throw MediaFileError(place) }
    let folder = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { throw MediaFileError(parent) }
    defer { close(folder) }
    guard fsync(folder) == 0 else { throw MediaFileError(parent) }
  }
}
