/// A message that brings along what the recipient needs to begin the session: the sender writes it until the first answer.
/// Spec: "Olm: A Cryptographic Ratchet", "Pre-Key Messages".
struct PreKeyMessage {
  private static let version: UInt8 = 3
  private static let oneTimeTag: UInt8 = 0x0A, baseTag: UInt8 = 0x12, identityTag: UInt8 = 0x1A, messageTag: UInt8 = 0x22

  let keys: SessionKeys
  let inner: NormalMessage

  init(_ bytes: [UInt8]) throws(OlmError) {
    guard let version = bytes.first, bytes.count <= MessageLimits.messageBytes else { throw .malformed }
    guard version == Self.version else { throw .unknownVersion }
    var reader = FieldReader(bytes, in: 1..<bytes.count)
    var oneTime: Curve25519Key?
    var base: Curve25519Key?
    var identity: Curve25519Key?
    var inner: ArraySlice<UInt8>?
    while let field = try reader.field() {
      switch field.tag {
      case UInt64(Self.oneTimeTag): oneTime = try field.value.curve25519Key()
      case UInt64(Self.baseTag): base = try field.value.curve25519Key()
      case UInt64(Self.identityTag): identity = try field.value.curve25519Key()
      case UInt64(Self.messageTag): inner = try field.value.bytes()
      default: break
      }
    }
    guard let oneTime, let base, let identity, let inner else { throw .malformed }
    keys = SessionKeys(identity: identity, base: base, oneTime: oneTime)
    self.inner = try NormalMessage([UInt8](inner))
  }

  static func wrap(_ message: [UInt8], _ keys: SessionKeys) -> [UInt8] {
    var writer = FieldWriter(version: version)
    writer.write(tag: oneTimeTag, keys.oneTime.bytes)
    writer.write(tag: baseTag, keys.base.bytes)
    writer.write(tag: identityTag, keys.identity.bytes)
    writer.write(tag: messageTag, message)
    return writer.message
  }
}
