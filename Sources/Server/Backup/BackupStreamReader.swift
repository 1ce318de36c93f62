import Glibc

/// Reads a tar stream of `BackupStream`, and unpacks it into the folder of a backup. It takes no other file, so that no stream writes anywhere
/// else.
struct BackupStreamReader {
  private let descriptor: Int32
  /// nil if the stream is only read.
  private let folder: String?
  /// What was read of a stream that is not unpacked: its files by the hashes that they are named by, and the list.
  private(set) var files: [String: FileContent.Summary] = [:]
  private(set) var list: BackupList?
  private var block = [UInt8](repeating: 0, count: TarEntry.blockBytes)

  private static let listBytesLimit: Int64 = 1 << 30

  /// Reads to the end of the stream and makes `folder`. Throws `incomplete` if the stream ends too early, `foreign` if it is another one.
  static func unpack(_ descriptor: Int32, to folder: String) throws(BackupError) {
    try FileContent.makeFolder(folder + "/files")
    var reader = BackupStreamReader(descriptor: descriptor, folder: folder)
    try reader.run()
  }

  /// Reads to the end of the stream and writes nothing. Throws as `unpack` does, and `damaged` for a list that is not whole.
  static func read(_ descriptor: Int32) throws(BackupError) -> BackupStreamReader {
    var reader = BackupStreamReader(descriptor: descriptor, folder: nil)
    try reader.run()
    return reader
  }

  private init(descriptor: Int32, folder: String?) { (self.descriptor, self.folder) = (descriptor, folder) }

  private mutating func run() throws(BackupError) {
    while let entry = try next() { try take(entry) }
    // What writes into a pipe must not fail because nobody reads the rest of its last record.
    while try fill() {}
  }

  /// nil at the end.
  private mutating func next() throws(BackupError) -> TarEntry? {
    guard try fill() else { throw .incomplete(path: BackupStream.name) }
    if block.allSatisfy({ $0 == 0 }) { return nil }
    guard let entry = TarEntry(block) else {
      if let program = Self.decompressor(of: block) { throw .compressed(program: program) }
      throw .foreign(path: BackupStream.name)
    }
    return entry
  }

  /// Returns the program that unpacks a stream which begins so; nil if it is not compressed.
  private static func decompressor(of block: [UInt8]) -> String? {
    let programs: [(start: [UInt8], program: String)] = [
      ([0x1F, 0x8B], "gunzip"), ([0x28, 0xB5, 0x2F, 0xFD], "unzstd"), ([0xFD, 0x37, 0x7A, 0x58, 0x5A], "unxz"),
      ([0x42, 0x5A, 0x68], "bunzip2")
    ]
    return programs.first { block.starts(with: $0.start) }?.program
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
    guard let folder else {
      if isContent { files[String(parts[2])] = try summary(of: entry) } else { list = try readList(in: entry) }
      return
    }
    if isContent { try FileContent.makeFolder("\(folder)/files/\(parts[1])") }
    let path = "\(folder)/\(name)"
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw .system(path) }
    defer { close(file) }
    try readPieces(of: entry) { piece throws(BackupError) in try FileContent.write(piece, to: file, path) }
  }

  private mutating func summary(of entry: TarEntry) throws(BackupError) -> FileContent.Summary {
    guard let hash = ContentHash() else { throw .system(BackupStream.name) }
    try readPieces(of: entry) { piece throws(BackupError) in hash.add(piece) }
    return hash.finish()
  }

  private mutating func readList(in entry: TarEntry) throws(BackupError) -> BackupList {
    var bytes: [UInt8] = []
    try readPieces(of: entry) { piece throws(BackupError) in bytes += piece }
    guard let list = BackupList(String(decoding: bytes, as: UTF8.self)) else {
      throw .damaged(path: BackupFolder.listName, reason: "is not a whole list")
    }
    return list
  }

  private mutating func readPieces(
    of entry: TarEntry, _ body: (ArraySlice<UInt8>) throws(BackupError) -> Void
  ) throws(BackupError) {
    var left = entry.bytes
    while left > 0 {
      guard try fill() else { throw .incomplete(path: BackupStream.name) }
      try body(block[..<Int(min(left, Int64(block.count)))])
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
