import Files
import Glibc
import Shell

/// The folder of the database, the media and the keys. A lock lets only one process at a time use it.
final class DataDirectory: Sendable {
  let path: String
  private let lock: Int32

  /// Creates the folder if it does not exist, readable by its owner only. Then checks that files can be written, and takes the lock. Throws
  /// `directory` or `directoryInUse`.
  init(_ path: String) throws(StartError) {
    self.path = path
    try Self.make(path)
    lock = open(path + "/martlet.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard lock >= 0 else {
      throw .directory(path: path, reason: "cannot write a file there: \(String(cString: strerror(errno)))")
    }
    // From here on, `deinit` closes the file, even if this initializer throws.
    guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      let code = errno
      if code == EWOULDBLOCK { throw .directoryInUse(path: path) }
      throw .directory(path: path, reason: "cannot lock it: \(String(cString: strerror(code)))")
    }
  }

  /// Whether a process uses the folder. Creates nothing.
  static func isInUse(_ path: String) -> Bool {
    let lock = open(path + "/martlet.lock", O_RDONLY | O_CLOEXEC)
    guard lock >= 0 else { return false }
    defer { close(lock) }
    guard flock(lock, LOCK_SH | LOCK_NB) == 0 else { return errno == EWOULDBLOCK }
    flock(lock, LOCK_UN)
    return false
  }

  /// Throws `directory` if no server has ever used the folder. Creates nothing, so that a typing error leaves no folder behind.
  static func requireDatabase(in path: String) throws(StartError) {
    try requireFolder(path)
    guard access(path + "/martlet.db", F_OK) == 0 else {
      guard errno == ENOENT else { throw .directory(path: path, reason: refusal(errno, path + "/martlet.db")) }
      throw .directory(path: path, reason: "there is no database in it (martlet.db); the first martlet serve makes one")
    }
  }

  /// Throws `directory` if the folder has no files of users: one that is named wrongly has none.
  static func requireMedia(in path: String) throws(StartError) {
    try requireFolder(path)
    guard access(path + "/media", F_OK) != 0 else { return }
    throw .directory(path: path, reason: errno == ENOENT ? "it has no folder media" : refusal(errno, path + "/media"))
  }

  /// Throws `directory` if there is no such folder.
  private static func requireFolder(_ path: String) throws(StartError) {
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw .directory(path: path, reason: errno == ENOENT ? "there is no such folder" : refusal(errno, path))
    }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw .directory(path: path, reason: "it is not a folder") }
  }

  /// In the system's words; names the owner if a permission is missing.
  private static func refusal(_ code: Int32, _ path: String) -> String {
    let reason = String(cString: strerror(code))
    guard code == EACCES, let hint = FileOwner.hint(for: path) else { return reason }
    return "\(reason) (\(hint))"
  }

  deinit {
    // Closing alone is not enough: between fork and exec, a child process also has the descriptor, and with it the lock.
    flock(lock, LOCK_UN)
    close(lock)
  }

  /// Creates the folder and its parents, like `mkdir -p`.
  private static func make(_ path: String) throws(StartError) {
    do throws(FolderOnDisk.Failure) { try FolderOnDisk.make(path) } catch {
      throw .directory(path: path, reason: error.description)
    }
    try requireFolder(path)
  }
}
