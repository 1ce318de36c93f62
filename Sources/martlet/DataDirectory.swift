import Glibc
import Shell

/// The folder of the database, the media and the keys, held by one process at a time.
final class DataDirectory: Sendable {
  let path: String
  private let lock: Int32

  /// Makes the folder, readable by its owner only, if it is not there; checks that files can be written; takes the lock. Throws `directory` or
  /// `directoryInUse`.
  init(_ path: String) throws(StartError) {
    self.path = path
    try Self.make(path)
    lock = open(path + "/martlet.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard lock >= 0 else {
      throw .directory(path: path, reason: "no file can be written there: \(String(cString: strerror(errno)))")
    }
    // From here on `deinit` closes the file, when this throws too.
    guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      let code = errno
      if code == EWOULDBLOCK { throw .directoryInUse(path: path) }
      throw .directory(path: path, reason: "it cannot be locked: \(String(cString: strerror(code)))")
    }
  }

  deinit {
    // Not by closing alone: a child process between fork and exec has the descriptor too, and with it the lock.
    flock(lock, LOCK_UN)
    close(lock)
  }

  /// Like `mkdir -p`.
  private static func make(_ path: String) throws(StartError) {
    do throws(FolderOnDisk.Failure) { try FolderOnDisk.make(path) } catch {
      throw .directory(path: path, reason: error.description)
    }
    var status = stat()
    guard stat(path, &status) == 0 else { throw .directory(path: path, reason: String(cString: strerror(errno))) }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw .directory(path: path, reason: "it is not a folder") }
  }
}
