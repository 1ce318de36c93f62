import Glibc

/// A regular file open for reading; closed when the last reference goes. All calls block: use them on the blocking pool.
package final class OpenFile: Sendable {
  package let size: Int64
  /// Seconds since 1970.
  package let modified: Int64
  /// Nanoseconds within that second.
  package let modifiedNanoseconds: Int64
  package let inode: UInt64
  private let descriptor: Int32

  /// nil when there is no regular file to be read at the path.
  package init?(path: String) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { return nil }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      return nil
    }
    self.descriptor = descriptor
    size = Int64(status.st_size)
    modified = Int64(status.st_mtim.tv_sec)
    modifiedNanoseconds = Int64(status.st_mtim.tv_nsec)
    inode = UInt64(status.st_ino)
  }

  deinit { close(descriptor) }

  /// Up to `count` bytes from `offset`; fewer at the end of the file. nil when the system fails to read.
  package func read(at offset: Int64, count: Int) -> [UInt8]? {
    var failed = false
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      while initialized < count {
        let result = pread(descriptor, buffer.baseAddress! + initialized, count - initialized, off_t(offset) + initialized)
        if result < 0 && errno == EINTR { continue }
        if result < 0 { failed = true }
        guard result > 0 else { return }
        initialized += result
      }
    }
    return failed ? nil : bytes
  }
}
