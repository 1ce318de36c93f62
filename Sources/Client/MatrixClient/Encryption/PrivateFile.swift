#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A file that only its owner may read.
enum PrivateFile {
  /// Writes it whole, or leaves what was there.
  static func replace(_ path: String, with bytes: [UInt8]) -> Bool {
    let partial = path + FileSink.partialSuffix
    unlink(partial)
    // Whoever else may write to the folder makes no file of theirs out of it.
    let descriptor = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return false }
    guard let file = fdopen(descriptor, "w") else {
      close(descriptor)
      unlink(partial)
      return false
    }
    let isWritten = fwrite(bytes, 1, bytes.count, file) == bytes.count && fflush(file) == 0 && fsync(descriptor) == 0
    guard fclose(file) == 0, isWritten, rename(partial, path) == 0 else {
      unlink(partial)
      return false
    }
    return true
  }

  /// nil if it is not a plain file, cannot be read or is longer.
  static func read(_ path: String, limit: Int) -> [UInt8]? {
    guard let size = FileSize.bytes(of: path), size <= limit, let file = fopen(path, "re") else { return nil }
    defer { fclose(file) }
    return [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
      count = buffer.baseAddress.map { fread($0, 1, Int(size), file) } ?? 0
    }
  }
}
