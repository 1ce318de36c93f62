#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// An advisory lock on a file beside the store, which the system drops with the process, however it ends. The file stays; only
/// the lock counts.
final class StoreLock {
  private let descriptor: Int32

  /// `-owner` is held by the one process that syncs, `-write` during each write and checkpoint.
  init(path: String) throws(StoreError) {
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .system(path: path, reason: String(cString: strerror(errno))) }
  }

  deinit {
    // Not by closing alone: a child between fork and exec has the descriptor too, and with it the lock.
    release()
    close(descriptor)
  }

  /// False where another has it.
  func take() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }

  func wait() { while flock(descriptor, LOCK_EX) != 0, errno == EINTR {} }

  func release() { flock(descriptor, LOCK_UN) }
}
