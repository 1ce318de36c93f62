#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A file that is there once it is whole. Used by one thread at a time.
final class FileSink {
  private let path: String
  private let file: UnsafeMutablePointer<FILE>
  private var isOpen = true

  static let partialSuffix = ".part"

  private var partial: String { path + Self.partialSuffix }

  /// nil where it cannot be written.
  init?(path: String) {
    guard let file = fopen(path + Self.partialSuffix, "w") else { return nil }
    self.path = path
    self.file = file
  }

  deinit { discard() }

  func append(_ bytes: UnsafeRawBufferPointer) -> Bool { fwrite(bytes.baseAddress, 1, bytes.count, file) == bytes.count }

  /// Whether it is there now.
  func finish() -> Bool {
    guard isOpen else { return false }
    isOpen = false
    guard fclose(file) == 0, rename(partial, path) == 0 else {
      unlink(partial)
      return false
    }
    return true
  }

  func discard() {
    guard isOpen else { return }
    isOpen = false
    fclose(file)
    unlink(partial)
  }
}
