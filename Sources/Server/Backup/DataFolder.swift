import Files
import Glibc

/// What lies in a data folder, as far as backups and checks have to know.
enum DataFolder {
  static let database = "martlet.db"
  /// A server holds a lock on this file.
  private static let lock = "martlet.lock"

  /// The files that belong into a backup beside the database.
  static func files(in data: String) throws(BackupError) -> [FileEntry] {
    var files: [FileEntry] = []
    try FileContent.walk(data) { path, status throws(BackupError) in
      guard status.isFile, !isLeftOut(path) else { return }
      guard !path.utf8.contains(UInt8(ascii: "\n")) else { throw .file(path: path, reason: "its name has a line feed") }
      files.append(FileEntry(path: path, bytes: Int64(status.st_size), modified: status.modifiedMicroseconds))
    }
    return files
  }

  /// The database is copied by SQLite; the bucket has what is in the cache; locks are the process's; thumbnails are made again; of unfinished uploads clients send all again.
  private static func isLeftOut(_ path: String) -> Bool {
    path.hasPrefix(database) || path.hasPrefix("media-cache/") || path == lock || path.hasSuffix(".new")
      || path.hasPrefix("media/incoming/")
      || path.hasPrefix("media/partial/") || isThumbnail(path)
  }

  static func isThumbnail(_ path: String) -> Bool {
    guard path.hasPrefix("media/"), let name = path.split(separator: "/").last else { return false }
    return name.utf8.count > 64 && BackupList.isHash(name.prefix(64))
  }

  /// The SHA-256 that content is named by; nil for other files.
  static func contentHash(_ path: String) -> String? {
    let parts = path.split(separator: "/")
    guard parts.count == 3, parts[0] == "media", BackupList.isHash(parts[2]), parts[2].hasPrefix(parts[1]) else { return nil }
    return String(parts[2])
  }

  static func contentPath(_ hash: String) -> String { "media/\(hash.prefix(2))/\(hash)" }

  /// Whether `path`, or the nearest folder above it that exists, lies in `data`.
  static func holds(_ path: String, in data: String) -> Bool {
    guard let data = real(data) else { return false }
    var path = path[...]
    while !path.isEmpty {
      if let found = real(String(path)) { return found == data || found.hasPrefix(data + "/") }
      guard let slash = path.lastIndex(of: "/") else { break }
      path = path[..<slash]
    }
    return real(".").map { $0 == data || $0.hasPrefix(data + "/") } ?? false
  }

  /// Returns a folder beside `data` that a server uses and that was perhaps `data` before, such as `data.old`; nil if there is none.
  static func usedFolder(movedFrom data: String) -> String? {
    let slash = data.lastIndex(of: "/")
    let above = slash.map { String(data[...$0]) } ?? ""
    let name = slash.map { data[data.index(after: $0)...] } ?? data[...]
    let names = FolderOnDisk.names(in: above.isEmpty ? "." : above) ?? []
    return names.filter { $0.hasPrefix(name + ".") }.map { above + $0 }.first(where: isUsed)
  }

  private static func isUsed(_ data: String) -> Bool {
    let file = open("\(data)/\(lock)", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    return flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
  }

  private static func real(_ path: String) -> String? {
    guard let found = realpath(path, nil) else { return nil }
    defer { free(found) }
    return String(cString: found)
  }
}
