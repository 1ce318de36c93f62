import Files
import Glibc

/// A backup on disk: `backup.list` names what it holds; `files/ab/abcdef…` are the files, named by their SHA-256.
///
/// A file gets its name when it is whole and synced, and the list changes in one step: a killed backup leaves the one before it, or
/// nothing that looks complete.
package final class BackupFolder: BackupPlace {
  static let listName = "backup.list"

  let path: String
  private let lock: Int32
  private var incoming: String { path + "/incoming" }

  /// Opens the folder of an earlier backup or, if `makes` is set, makes a new one. `user`: the user who writes. Throws
  /// `otherOwner`, `inUse`, `foreign`, `file`.
  package init(_ path: String, makes: Bool, user: uid_t = geteuid()) throws(BackupError) {
    self.path = path
    if makes { try FileContent.makeFolder(path) }
    if makes, let status = FileContent.status(path), status.st_uid != user {
      throw .otherOwner(path: path, owner: FileOwner.name(of: path) ?? "another user")
    }
    lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard lock >= 0 else { throw .system(path) }
    guard flock(lock, LOCK_EX | LOCK_NB) == 0 else { throw errno == EWOULDBLOCK ? .inUse(path: path) : .system(path) }
    guard makes else { return }
    let known: Set = [Self.listName, Self.listName + ".new", "files", "incoming", "lost+found"]
    guard try FileContent.names(in: path).allSatisfy(known.contains) else { throw .foreign(path: path) }
    // It has passwords' hashes, keys and messages.
    guard chmod(path, 0o700) == 0 else { throw .system(path) }
    try FileContent.remove(incoming)
    try FileContent.makeFolder(incoming)
    try FileContent.makeFolder(path + "/files")
  }

  deinit { close(lock) }

  /// The complete backup that is here; nil if there is no list.
  func list() throws(BackupError) -> BackupList? {
    let name = path + "/" + Self.listName
    guard let bytes = try Self.bytes(of: name) else { return nil }
    guard let list = BackupList(String(decoding: bytes, as: UTF8.self)) else {
      throw .damaged(path: name, reason: "is not a whole list")
    }
    return list
  }

  /// Where the file of this hash is, below the backup.
  static func name(of hash: String) -> String { "files/\(hash.prefix(2))/\(hash)" }

  func file(_ hash: String) -> String { "\(path)/\(Self.name(of: hash))" }

  /// Whether the file is here. What is under a hash's name came there whole.
  func has(_ hash: String, bytes: Int64) -> Bool { FileContent.status(file(hash)).map { Int64($0.st_size) == bytes } ?? false }

  /// Where a file is written before it has its name.
  var newFile: String { incoming + "/file" }

  func add(_ source: String, isFixed: Bool) throws(BackupError) -> FileContent.Summary? {
    guard let summary = try FileContent.copy(source, to: newFile) else { return nil }
    try keep(summary)
    return summary
  }

  /// Gives `newFile`, which is synced, the name of its hash.
  func keep(_ summary: FileContent.Summary) throws(BackupError) {
    let place = file(summary.hash)
    try FileContent.makeFolder("\(path)/files/\(summary.hash.prefix(2))")
    guard rename(newFile, place) == 0 else { throw .system(place) }
  }

  /// Makes `list` what this backup holds, in one step, and then removes the files that it does not name.
  func finish(_ list: BackupList) throws(BackupError) {
    for name in try FileContent.names(in: path + "/files") { try FileContent.sync("\(path)/files/\(name)") }
    try FileContent.sync(path + "/files")
    let name = path + "/" + Self.listName
    try FileContent.write(list.text, toNew: name + ".new")
    guard rename(name + ".new", name) == 0 else { throw .system(name) }
    try FileContent.sync(path)
    try removeWhatIsNotListed()
  }

  func giveUp() throws(BackupError) { try removeWhatIsNotListed() }

  /// Removes unfinished files, and files that the complete backup does not name. Throws `damaged`, and removes only unfinished files, if
  /// the list cannot be read.
  private func removeWhatIsNotListed() throws(BackupError) {
    try FileContent.remove(incoming)
    try FileContent.remove(path + "/" + Self.listName + ".new")
    let needed = Set(try list()?.files.map(\.hash) ?? [])
    for folder in try FileContent.names(in: path + "/files") {
      for hash in try FileContent.names(in: "\(path)/files/\(folder)") where !needed.contains(hash) {
        try FileContent.remove("\(path)/files/\(folder)/\(hash)")
      }
    }
  }

  private static func bytes(of path: String) throws(BackupError) -> [UInt8]? {
    guard let size = FileContent.status(path)?.st_size else { return nil }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(path) }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: Int(size))
    var count = 0
    while count < bytes.count {
      let read = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress! + count, $0.count - count) }
      guard read > 0 else { throw .system(path) }
      count += read
    }
    return bytes
  }
}
