import CPrimitives

/// Room keys in a file that a passphrase opens, as clients export and import them. Spec: Client-Server API, "Key exports".
///
/// The file has version 1, 16 bytes of salt, 16 of the first counter, 4 of rounds, the ciphertext, and an HMAC of all that. It is base64
/// between two lines. The first half of the derived keys is for AES, the second for the HMAC.
package struct KeyFile: Sendable {
  package static let keysByteCount = 64
  /// Bytes of the text. That is about two hundred thousand sessions.
  package static let textBytesLimit = 100 * 1024 * 1024
  /// Bytes of JSON. Base64 and line ends add a third.
  package static let plaintextBytesLimit = 70 * 1024 * 1024

  private static let version: UInt8 = 1
  private static let begin = Array("-----BEGIN MEGOLM SESSION DATA-----".utf8)
  private static let end = Array("-----END MEGOLM SESSION DATA-----".utf8)
  private static let headByteCount = 1 + 16 + 16 + 4
  private static let tagByteCount = 32
  /// Bytes of a line of base64, as other clients write them.
  private static let lineByteCount = 96

  /// How the caller derives the `keysByteCount` bytes of keys.
  package let passphraseKey: PassphraseKey
  private let bytes: [UInt8]

  /// Reads the parts that need no passphrase.
  package init(_ text: [UInt8]) throws(OlmError) {
    guard text.count <= Self.textBytesLimit, let body = Self.body(of: text), let bytes = Base64.decode(body) else {
      throw .malformed
    }
    guard bytes.count >= Self.headByteCount + Self.tagByteCount else { throw .malformed }
    guard bytes[0] == Self.version else { throw .unknownVersion }
    let rounds = bytes[33..<Self.headByteCount].reduce(0) { $0 << 8 | UInt32($1) }
    passphraseKey = try PassphraseKey(salt: [UInt8](bytes[1..<17]), rounds: rounds)
    self.bytes = bytes
  }

  /// Returns the sessions as JSON. A wrong passphrase and a changed file are the same error. The keys have `keysByteCount` bytes.
  package func open(_ keys: Secret) throws(OlmError) -> [UInt8] {
    guard keys.count == Self.keysByteCount else { throw .malformed }
    let tagStart = bytes.count - Self.tagByteCount
    let tag = keys.part(32..<64).tag(of: [UInt8](bytes[..<tagStart]))
    guard primitives_equal(tag, [UInt8](bytes[tagStart...]), tag.count) == 1 else { throw .wrongMAC }
    var plaintext = [UInt8](bytes[Self.headByteCount..<tagStart])
    var cipher = CounterCipher(checkedKey: keys.part(0..<32), counter: [UInt8](bytes[17..<33]))
    cipher.apply(to: &plaintext)
    return plaintext
  }

  /// Returns the file's text. The keys have `keysByteCount` bytes and are derived as `passphraseKey` says. Its salt has 16 bytes.
  package static func seal(
    _ plaintext: [UInt8], _ keys: Secret, _ passphraseKey: PassphraseKey, random: inout SecretSource
  ) throws(OlmError) -> [UInt8] {
    guard keys.count == keysByteCount, passphraseKey.salt.count == 16 else { throw .malformed }
    guard plaintext.count <= plaintextBytesLimit else { throw .malformed }
    var counter = random.bytes(CounterCipher.counterByteCount)
    // Bit 63: some implementations of AES-CTR count in the last 64 bits only.
    counter[8] &= 0x7F
    var ciphertext = plaintext
    var cipher = CounterCipher(checkedKey: keys.part(0..<32), counter: counter)
    cipher.apply(to: &ciphertext)
    let rounds = (0..<4).map { UInt8(truncatingIfNeeded: passphraseKey.rounds >> (24 - 8 * UInt32($0))) }
    var bytes = [version] + passphraseKey.salt + counter + rounds
    bytes += ciphertext
    bytes += keys.part(32..<64).tag(of: bytes)
    return framed(Base64.encode(bytes))
  }

  /// Whether a text that cannot be read begins as a key file does, and has no end.
  package static func isCutOff(_ text: [UInt8]) -> Bool {
    let lines = text.split { $0 == 0x0A || $0 == 0x0D }
    guard let first = lines.firstIndex(where: { $0.elementsEqual(begin) }) else { return false }
    return !lines[first...].contains { $0.elementsEqual(end) }
  }

  private static func framed(_ base64: [UInt8]) -> [UInt8] {
    var text = begin
    for start in stride(from: 0, to: base64.count, by: lineByteCount) {
      text.append(0x0A)
      text += base64[start..<min(start + lineByteCount, base64.count)]
    }
    text.append(0x0A)
    return text + end + [0x0A]
  }

  /// Returns the base64 between the two lines, without line ends. Text around them is ignored. nil if a line is missing.
  private static func body(of text: [UInt8]) -> [UInt8]? {
    var body: [UInt8]?
    var start = 0
    while start < text.count {
      let line = text[start...].prefix { $0 != 0x0A && $0 != 0x0D }
      if line.elementsEqual(end) { return body }
      if line.elementsEqual(begin) {
        body = []
      } else {
        body?.append(contentsOf: line)
      }
      start = line.endIndex + 1
    }
    return nil
  }
}
