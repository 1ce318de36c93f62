/// A message of a session that both sides have. Spec: "Olm: A Cryptographic Ratchet", "Normal Messages".
struct NormalMessage {
  private static let version: UInt8 = 3
  private static let ratchetKeyTag: UInt8 = 0x0A, indexTag: UInt8 = 0x10, ciphertextTag: UInt8 = 0x22
  private static let info = Array("OLM_KEYS".utf8)

  let ratchetKey: Curve25519Key
  let index: UInt32
  private let authenticated: [UInt8]
  private let ciphertext: ArraySlice<UInt8>
  private let tag: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) throws(OlmError) {
    guard let version = bytes.first, bytes.count <= MessageLimits.messageBytes else { throw .malformed }
    guard version == Self.version else { throw .unknownVersion }
    let end = bytes.count - MessageCipher.tagByteCount
    guard end > 1 else { throw .malformed }
    var reader = FieldReader(bytes, in: 1..<end)
    var ratchetKey: Curve25519Key?
    var index: UInt32?
    var ciphertext: ArraySlice<UInt8>?
    while let field = try reader.field() {
      switch field.tag {
      case UInt64(Self.ratchetKeyTag): ratchetKey = try field.value.curve25519Key()
      case UInt64(Self.indexTag): index = try field.value.index()
      case UInt64(Self.ciphertextTag): ciphertext = try field.value.bytes()
      default: break
      }
    }
    guard let ratchetKey, let index, let ciphertext else { throw .malformed }
    self.ratchetKey = ratchetKey
    self.index = index
    self.ciphertext = ciphertext
    authenticated = [UInt8](bytes[..<end])
    tag = bytes[end...]
  }

  func open(_ messageKey: Secret) throws(OlmError) -> [UInt8] {
    let cipher = MessageCipher(messageKey, info: Self.info)
    try cipher.verify(tag, of: authenticated)
    return try cipher.decrypt(ciphertext)
  }

  static func seal(_ plaintext: [UInt8], _ messageKey: Secret, ratchetKey: Curve25519Key, index: UInt32) -> [UInt8] {
    let cipher = MessageCipher(messageKey, info: info)
    var writer = FieldWriter(version: version)
    writer.write(tag: ratchetKeyTag, ratchetKey.bytes)
    writer.write(tag: indexTag, index)
    writer.write(tag: ciphertextTag, cipher.encrypt(plaintext))
    return writer.message + cipher.tag(of: writer.message)
  }
}
