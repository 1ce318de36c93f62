/// A message to a room. Spec: "Megolm group ratchet", "Message format".
struct GroupMessage {
  private static let version: UInt8 = 3
  private static let indexTag: UInt8 = 0x08, ciphertextTag: UInt8 = 0x12
  private static let info = Array("MEGOLM_KEYS".utf8)

  let index: UInt32
  private let ciphertext: ArraySlice<UInt8>
  private let bytes: [UInt8]
  private let tagStart: Int
  private let signatureStart: Int

  init(_ bytes: [UInt8]) throws(OlmError) {
    guard let version = bytes.first, bytes.count <= MessageLimits.messageBytes else { throw .malformed }
    guard version == Self.version else { throw .unknownVersion }
    signatureStart = bytes.count - Ed25519Key.signatureByteCount
    tagStart = signatureStart - MessageCipher.tagByteCount
    guard tagStart > 1 else { throw .malformed }
    var reader = FieldReader(bytes, in: 1..<tagStart)
    var index: UInt32?
    var ciphertext: ArraySlice<UInt8>?
    while let field = try reader.field() {
      switch field.tag {
      case UInt64(Self.indexTag): index = try field.value.index()
      case UInt64(Self.ciphertextTag): ciphertext = try field.value.bytes()
      default: break
      }
    }
    guard let index, let ciphertext else { throw .malformed }
    self.index = index
    self.ciphertext = ciphertext
    self.bytes = bytes
  }

  func verifySignature(by key: Ed25519Key) throws(OlmError) {
    guard key.verifies([UInt8](bytes[signatureStart...]), of: [UInt8](bytes[..<signatureStart])) else { throw .wrongSignature }
  }

  /// Decrypts the message. The ratchet stands at its index.
  func open(_ ratchet: MegolmRatchet) throws(OlmError) -> [UInt8] {
    let cipher = MessageCipher(ratchet.secret, info: Self.info)
    try cipher.verify(bytes[tagStart..<signatureStart], of: [UInt8](bytes[..<tagStart]))
    return try cipher.decrypt(ciphertext)
  }

  static func seal(_ plaintext: [UInt8], _ ratchet: MegolmRatchet, signedBy signing: Ed25519KeyPair) -> [UInt8] {
    let cipher = MessageCipher(ratchet.secret, info: info)
    var writer = FieldWriter(version: version)
    writer.write(tag: indexTag, ratchet.index)
    writer.write(tag: ciphertextTag, cipher.encrypt(plaintext))
    let authenticated = writer.message + cipher.tag(of: writer.message)
    return authenticated + signing.sign(authenticated)
  }
}
