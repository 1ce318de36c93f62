#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Bytes in a file that only its owner may read.
struct TemporaryFile {
  let path: String

  /// nil where they cannot be written.
  init?(_ bytes: [UInt8]) {
    self.init { file in fwrite(bytes, 1, bytes.count, file) == bytes.count }
  }

  /// The ciphertext of another file, made in parts.
  init?(encrypting source: String, by encrypter: FileEncrypter) {
    guard FileSize.bytes(of: source) != nil, let input = fopen(source, "re") else { return nil }
    defer { fclose(input) }
    encrypter.begin()
    self.init { output in
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while case let count = fread(&buffer, 1, buffer.count, input), count > 0 {
        buffer.withUnsafeMutableBytes { encrypter.encrypt(UnsafeMutableRawBufferPointer(rebasing: $0[..<count])) }
        guard fwrite(buffer, 1, count, output) == count else { return false }
      }
      return ferror(input) == 0
    }
  }

  private init?(_ write: (UnsafeMutablePointer<FILE>) -> Bool) {
    let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array((folder + "/martlet-XXXXXX").utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { return nil }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    guard let file = fdopen(descriptor, "w") else {
      close(descriptor)
      remove()
      return nil
    }
    let isWritten = write(file)
    guard fclose(file) == 0, isWritten else {
      remove()
      return nil
    }
  }

  func remove() { unlink(path) }
}
