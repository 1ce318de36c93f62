import Glibc

/// A file that one process at a time has locked.
final class FolderLock: Sendable {
  private let file: Int32

  init?(_ path: String) {
    file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0, flock(file, LOCK_EX | LOCK_NB) == 0 else { return nil }
  }

  deinit { if file >= 0 { close(file) } }
}
