import Glibc

/// A backup as a tar stream, which unpacks to a folder that `BackupFolder` reads. The list comes last: a stream that was cut off lacks it.
///
/// The name of a file is its SHA-256, which must be known before the file is written. Content is read twice for that; what may change meanwhile is
/// copied into a temporary file first.
final class BackupStream: BackupPlace {
  /// In errors.
  static let name = "the stream"

  private let descriptor: Int32
  private let modified: Int64
  private let temporary: String
  private var sent: [String: Int64] = [:]

  var newFile: String { temporary + "/file" }

  /// Makes a temporary folder in `folder`. `now`: milliseconds since 1970. Throws `file`.
  init(writing descriptor: Int32, temporary folder: String, now: Int64) throws(BackupError) {
    (self.descriptor, modified) = (descriptor, now / 1_000)
    var name = Array("\(folder)/martlet-backup-XXXXXX".utf8CString)
    guard mkdtemp(&name) != nil else { throw .system(folder) }
    temporary = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  func list() -> BackupList? { nil }

  func has(_ hash: String, bytes: Int64) -> Bool { sent[hash] == bytes }

  func add(_ source: String, isFixed: Bool) throws(BackupError) -> FileContent.Summary? {
    if isFixed {
      guard let summary = try FileContent.read(source) else { return nil }
      return try send(source, summary) ? summary : nil
    }
    guard let summary = try FileContent.copy(source, to: newFile) else { return nil }
    try keep(summary)
    return summary
  }

  func keep(_ summary: FileContent.Summary) throws(BackupError) {
    guard try send(newFile, summary) else { throw .system(newFile) }
    try FileContent.remove(newFile)
  }

  func finish(_ list: BackupList) throws(BackupError) {
    let text = Array(list.text.utf8)
    let entry = TarEntry(name: BackupFolder.listName, bytes: Int64(text.count), modified: modified)
    try write(entry.block + text + [UInt8](repeating: 0, count: entry.padding) + TarEntry.end)
    try giveUp()
  }

  func giveUp() throws(BackupError) { try FileContent.remove(temporary) }

  /// Writes a file that was read before. Returns false if the file is gone.
  private func send(_ path: String, _ summary: FileContent.Summary) throws(BackupError) -> Bool {
    let entry = TarEntry(name: BackupFolder.name(of: summary.hash), bytes: summary.bytes, modified: modified)
    let source = open(path, O_RDONLY | O_CLOEXEC)
    guard source >= 0 else {
      if errno == ENOENT { return false }
      throw .system(path)
    }
    defer { close(source) }
    try write(entry.block)
    guard try FileContent.read(source, path, copyingTo: (descriptor, Self.name)) == summary else {
      throw .file(path: path, reason: "it changed while it was read")
    }
    try write([UInt8](repeating: 0, count: entry.padding))
    sent[summary.hash] = summary.bytes
    return true
  }

  private func write(_ bytes: [UInt8]) throws(BackupError) { try FileContent.write(bytes[...], to: descriptor, Self.name) }
}
