import Glibc

/// Unpacks a tar stream of `BackupStream` into the folder of a backup. It takes no other file, so that no stream writes anywhere else.
struct BackupStreamReader {
  private let descriptor: Int32
  private let folder: String
  private var block = [UInt8](repeating: 0, count: TarEntry.blockBytes)

  private static let listBytesLimit: Int64 = 1 << 30

  /// Reads to the end of the stream and makes `folder`. Throws `incomplete` if the stream ends too early, `foreign` if it is another one.
  static func unpack(_ descriptor: Int32, to folder: String) throws(BackupError) {
    try FileContent.makeFolder(folder + "/files")
    var reader = BackupStreamReader(descriptor: descriptor, folder: folder)
    while let entry = try reader.next() { try reader.take(entry) }
    // What writes into a pipe must not fail because nobody reads the rest of its last record.
    while try reader.fill() {}
  }

  private init(descriptor: Int32, folder: String) { (self.descriptor, self.folder) = (descriptor, folder) }

  /// nil at the end.
  private mutating func next() throws(BackupError) -> TarEntry? {
    guard try fill() else { throw .incomplete(path: BackupStream.name) }
    if block.allSatisfy({ $0 == 0 }) { return nil }
    guard let entry = TarEntry(block) else { throw .foreign(path: BackupStream.name) }
    return entry
  }

  private mutating func take(_ entry: TarEntry) throws(BackupError) {
    // GNU tar has ./ before the names if it packs the folder `.`.
    let name = entry.name.hasPrefix("./") ? String(entry.name.dropFirst(2)) : entry.name
    if entry.kind == .folder, entry.bytes == 0 { return }
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    let isContent =
      parts.count == 3 && parts[0] == "files" && BackupList.isHash(parts[2]) && parts[2].hasPrefix(parts[1])
      && parts[1].count == 2
    guard entry.kind == .file, isContent || name == BackupFolder.listName && entry.bytes <= Self.listBytesLimit else {
      throw .foreign(path: BackupStream.name)
    }
    if isContent { try FileContent.makeFolder("\(folder)/files/\(parts[1])") }
    let path = "\(folder)/\(name)"
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw .system(path) }
    defer { close(file) }
    var left = entry.bytes
    while left > 0 {
      guard try fill() else { throw .incomplete(path: BackupStream.name) }
      try FileContent.write(block[..<Int(min(left, Int64(block.count)))], to: file, path)
      left -= Int64(block.count)
    }
  }

  /// Reads the next block. Returns false at the end of the stream.
  private mutating func fill() throws(BackupError) -> Bool {
    var count = 0
    while count < block.count {
      let got = block.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress! + count, $0.count - count) }
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { throw .system(BackupStream.name) }
      guard got > 0 else { break }
      count += got
    }
    return count == block.count
  }
}
