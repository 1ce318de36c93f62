/// A private key as people write it down: base58 in groups of four. Spec: Appendices, "Cryptographic key representation".
package struct RecoveryKey: Sendable {
  private static let head: [UInt8] = [0x8B, 0x01]
  private static let keyByteCount = 32
  private static let alphabet = Array("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz".utf8)
  /// Bytes of a text, twice what a key needs.
  private static let textLimit = 128

  package let secret: Secret

  /// nil unless the secret has 32 bytes.
  package init?(_ secret: Secret) {
    guard secret.count == Self.keyByteCount else { return nil }
    self.secret = secret
  }

  /// Reads a typed or pasted key. White space is ignored. The parity byte finds most mistyped keys.
  package init(text: [UInt8]) throws(OlmError) {
    guard text.count <= Self.textLimit else { throw .malformed }
    let letters = text.filter { $0 != 0x20 && !(0x09...0x0D).contains($0) }
    let bytes = try Self.decode(letters)
    guard bytes.count == Self.head.count + Self.keyByteCount + 1, bytes.starts(with: Self.head), Self.parity(of: bytes) == 0
    else {
      throw .malformed
    }
    secret = Secret(bytes[Self.head.count..<bytes.count - 1])
  }

  package var text: [UInt8] {
    var bytes = Self.head + secret.exposed()
    bytes.append(Self.parity(of: bytes))
    var text: [UInt8] = []
    for (index, letter) in Self.encode(bytes).enumerated() {
      if index > 0, index % 4 == 0 { text.append(0x20) }
      text.append(letter)
    }
    return text
  }

  private static func parity(of bytes: [UInt8]) -> UInt8 { bytes.reduce(0, ^) }

  // Base58 is a number written in another base. These are not constant in time: a key is typed or shown once, by its owner.

  /// The first byte is not zero.
  private static func encode(_ bytes: [UInt8]) -> [UInt8] {
    var digits: [UInt8] = []
    for byte in bytes { multiply(&digits, base: 58, by: 256, adding: byte) }
    return digits.reversed().map { alphabet[Int($0)] }
  }

  private static func decode(_ text: [UInt8]) throws(OlmError) -> [UInt8] {
    var digits: [UInt8] = []
    for letter in text {
      guard let value = alphabet.firstIndex(of: letter) else { throw .malformed }
      multiply(&digits, base: 256, by: 58, adding: UInt8(value))
    }
    return digits.reversed()
  }

  /// The lowest digit comes first.
  private static func multiply(_ digits: inout [UInt8], base: Int, by factor: Int, adding digit: UInt8) {
    var carry = Int(digit)
    for index in digits.indices {
      carry += Int(digits[index]) * factor
      digits[index] = UInt8(carry % base)
      carry /= base
    }
    while carry > 0 {
      digits.append(UInt8(carry % base))
      carry /= base
    }
  }
}
