import CPrimitives

/// The authenticated encryption of Olm, Megolm and backups: AES-256-CBC with PKCS#7, and the first 8 bytes of an HMAC-SHA-256.
/// One HKDF gives both keys and the IV. Spec: "Olm: A Cryptographic Ratchet", "Olm Authenticated Encryption".
struct MessageCipher {
  static let tagByteCount = 8

  private let cipherKey: Secret
  private let tagKey: Secret
  private let iv: Secret

  init(_ secret: Secret, info: [UInt8]) {
    let keys = secret.derived(80, info: info)
    cipherKey = keys.part(0..<32)
    tagKey = keys.part(32..<64)
    iv = keys.part(64..<80)
  }

  func encrypt(_ plaintext: [UInt8]) -> [UInt8] {
    let padding = 16 - plaintext.count % 16
    var bytes = plaintext
    bytes.reserveCapacity(plaintext.count + padding)
    for _ in 0..<padding { bytes.append(UInt8(padding)) }
    primitives_aes256_cbc_encrypt(&bytes, bytes.count, cipherKey.start, iv.start)
    return bytes
  }

  func decrypt(_ ciphertext: ArraySlice<UInt8>) throws(OlmError) -> [UInt8] {
    guard ciphertext.count >= 16, ciphertext.count % 16 == 0 else { throw .malformed }
    var bytes = [UInt8](ciphertext)
    primitives_aes256_cbc_decrypt(&bytes, bytes.count, cipherKey.start, iv.start)
    guard let padding = Self.padding(of: bytes) else { throw .malformed }
    bytes.removeLast(padding)
    return bytes
  }

  func tag(of message: [UInt8]) -> [UInt8] { [UInt8](tagKey.tag(of: message)[..<Self.tagByteCount]) }

  func verify(_ tag: ArraySlice<UInt8>, of message: [UInt8]) throws(OlmError) {
    let right = self.tag(of: message)
    guard tag.count == right.count, primitives_equal([UInt8](tag), right, right.count) == 1 else { throw .wrongMAC }
  }

  /// How many bytes PKCS#7 has added, or nil if they are wrong. The last block is read whole and without branches: in a backup the
  /// MAC does not cover the ciphertext, and the time must not tell what the padding was.
  @inline(never)
  private static func padding(of bytes: [UInt8]) -> Int? {
    let padding = Int32(bytes[bytes.count - 1])
    // Negative if anything is wrong.
    var wrong = (padding &- 1) | (16 &- padding)
    for offset in 0..<16 {
      let isPadding = (Int32(offset) &- padding) >> 31
      wrong |= 0 &- ((Int32(bytes[bytes.count - 1 - offset]) ^ padding) & isPadding)
    }
    return wrong < 0 ? nil : Int(padding)
  }
}
