import CCrypto

/// Computes the SHA-256 of content that comes in pieces.
final class ContentHash {
  private let context: OpaquePointer
  private var bytes: Int64 = 0

  /// nil if there is no memory.
  init?() {
    guard let context = EVP_MD_CTX_new() else { return nil }
    self.context = context
    EVP_DigestInit_ex(context, EVP_sha256(), nil)
  }

  deinit { EVP_MD_CTX_free(context) }

  func add(_ piece: ArraySlice<UInt8>) {
    piece.withUnsafeBytes { _ = EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
    bytes += Int64(piece.count)
  }

  /// Returns the hash of all pieces; nothing can be added afterwards.
  func finish() -> FileContent.Summary {
    var hash = [UInt8](repeating: 0, count: 32)
    EVP_DigestFinal_ex(context, &hash, nil)
    return FileContent.Summary(
      hash: hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(), bytes: bytes)
  }
}
