import CCrypto
import Glibc
import ServerCore

/// The SHA-256 of content that comes in pieces. Used by one thread at a time.
final class ContentDigest {
  private let context: OpaquePointer

  /// nil if there is no memory.
  init?() {
    guard let context = EVP_MD_CTX_new() else { return nil }
    self.context = context
    EVP_DigestInit_ex(context, EVP_sha256(), nil)
  }

  deinit { EVP_MD_CTX_free(context) }

  func add(_ bytes: UnsafeRawBufferPointer) { _ = EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) }

  /// In hexadecimal. Called once, after the last piece.
  func finish() -> String {
    var bytes = [UInt8](repeating: 0, count: 32)
    EVP_DigestFinal_ex(context, &bytes, nil)
    return KeyedHash.hexadecimal(bytes)
  }

  /// The digest and the bytes of a file; nil if there is none. Blocks.
  static func ofFile(_ path: String) throws -> (hash: String, bytes: Int64)? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      guard errno == ENOENT else { throw MediaFileError(path) }
      return nil
    }
    defer { close(file) }
    guard let digest = ContentDigest() else { throw MediaFileError(path) }
    var (buffer, bytes) = ([UInt8](repeating: 0, count: 1 << 20), Int64(0))
    while true {
      let count = buffer.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw MediaFileError(path) }
      if count == 0 { return (digest.finish(), bytes) }
      buffer.withUnsafeBytes { digest.add(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
      bytes += Int64(count)
    }
  }
}
