#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

enum FileSize {
  /// nil where there is no plain file to be read.
  static func bytes(of path: String) -> Int64? {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, access(path, R_OK) == 0 else { return nil }
    return Int64(status.st_size)
  }
}
