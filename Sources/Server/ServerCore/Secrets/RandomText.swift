import CSodium

/// Text that cannot be guessed.
package enum RandomText {
  /// URL-safe Base64 without padding of that many random bytes.
  package static func urlSafe(bytes count: Int) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    return text(length: (count * 8 + 5) / 6, of: alphabet)
  }

  /// Device IDs, localparts: short names that need to be unique, not secret.
  package static func name(length: Int, of alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZ") -> String {
    text(length: length, of: Array(alphabet.description.utf8))
  }

  private static func text(length: Int, of alphabet: [UInt8]) -> String {
    let letters = (0..<length).map { _ in alphabet[Int(randombytes_uniform(UInt32(alphabet.count)))] }
    return String(decoding: letters, as: UTF8.self)
  }
}
