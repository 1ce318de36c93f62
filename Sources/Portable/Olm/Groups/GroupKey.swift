/// A group session's key as devices share it: version, index, ratchet, public key. The owner also signs it with the session.
/// Spec: "Megolm group ratchet", "Session sharing format" and "Session export format".
struct GroupKey {
  private static let sharedVersion: UInt8 = 2, exportedVersion: UInt8 = 1
  private static let headByteCount = 5
  private static let exportedByteCount = headByteCount + MegolmRatchet.byteCount + Ed25519Key.byteCount

  let ratchet: MegolmRatchet
  let key: Ed25519Key

  init(_ ratchet: MegolmRatchet, _ key: Ed25519Key) {
    self.ratchet = ratchet
    self.key = key
  }

  init(shared bytes: [UInt8]) throws(OlmError) {
    let parsed = try GroupKey(
      bytes, version: Self.sharedVersion, byteCount: Self.exportedByteCount + Ed25519Key.signatureByteCount)
    let signature = [UInt8](bytes[Self.exportedByteCount...])
    guard parsed.key.verifies(signature, of: [UInt8](bytes[..<Self.exportedByteCount])) else { throw .wrongSignature }
    self = parsed
  }

  init(exported bytes: [UInt8]) throws(OlmError) {
    try self.init(bytes, version: Self.exportedVersion, byteCount: Self.exportedByteCount)
  }

  private init(_ bytes: [UInt8], version: UInt8, byteCount: Int) throws(OlmError) {
    guard let first = bytes.first else { throw .malformed }
    guard first == version else { throw .unknownVersion }
    guard bytes.count == byteCount else { throw .malformed }
    let index = bytes[1..<Self.headByteCount].reduce(0) { $0 << 8 | UInt32($1) }
    let keyStart = Self.exportedByteCount - Ed25519Key.byteCount
    ratchet = MegolmRatchet(Secret(bytes[Self.headByteCount..<keyStart]), index: index)
    key = Ed25519Key(checked: [UInt8](bytes[keyStart..<Self.exportedByteCount]))
  }

  var exported: Secret { encoded(version: Self.exportedVersion) }

  func shared(signedBy signing: Ed25519KeyPair) -> Secret {
    let key = encoded(version: Self.sharedVersion)
    return Secret(joining: [key, Secret(signing.sign(key))])
  }

  private func encoded(version: UInt8) -> Secret {
    let head = [version] + (0..<4).map { UInt8(truncatingIfNeeded: ratchet.index >> (24 - 8 * UInt32($0))) }
    return Secret(joining: [Secret(head), ratchet.secret, Secret(key.bytes)])
  }
}
