/// Decrypts another device's messages to a room. Spec: "Megolm group ratchet".
///
/// It decrypts a message as often as it is asked to. The caller remembers which event had which index, and refuses another event with
/// the same index as a replay.
package struct InboundGroupSession: Sendable {
  /// Signs the session's messages, and names it.
  package let key: Ed25519Key
  /// Whether the key came signed by the session, so from its owner. A key from a backup, a file or another device did not.
  package let isSigned: Bool
  let first: MegolmRatchet
  /// Where the message before was: messages in their order cost one step each, also those of a page far back.
  private var recent: MegolmRatchet

  /// The content of `m.room_key`.
  package init(sharedKey: [UInt8]) throws(OlmError) { self.init(try GroupKey(shared: sharedKey), isSigned: true) }

  /// From a backup, a file, or a forwarded key.
  package init(exportedKey: [UInt8]) throws(OlmError) { self.init(try GroupKey(exported: exportedKey), isSigned: false) }

  init(_ key: GroupKey, isSigned: Bool) {
    self.key = key.key
    self.isSigned = isSigned
    first = key.ratchet
    recent = key.ratchet
  }

  package var id: [UInt8] { key.text }

  /// Messages before it stay unreadable.
  package var firstIndex: UInt32 { first.index }

  /// The key as backups and files have it, which reads from the index on.
  package func exportedKey(at index: UInt32) throws(OlmError) -> Secret {
    GroupKey(try ratchet(at: index), key).exported
  }

  /// Whether both read the same messages, each from its first index on. Keys that only claim to be of the same session do not.
  package func agrees(with other: InboundGroupSession) throws(OlmError) -> Bool {
    guard key == other.key else { return false }
    let index = max(firstIndex, other.firstIndex)
    return try ratchet(at: index, from: first).secret.isEqual(to: other.ratchet(at: index, from: other.first).secret)
  }

  package mutating func decrypt(_ message: [UInt8]) throws(OlmError) -> (plaintext: [UInt8], index: UInt32) {
    let message = try GroupMessage(message)
    try message.verifySignature(by: key)
    let ratchet = try ratchet(at: message.index, from: message.index < recent.index ? first : recent)
    let plaintext = try message.open(ratchet)
    recent = ratchet
    return (plaintext: plaintext, index: message.index)
  }

  func ratchet(at index: UInt32) throws(OlmError) -> MegolmRatchet { try ratchet(at: index, from: first) }

  private func ratchet(at index: UInt32, from start: MegolmRatchet) throws(OlmError) -> MegolmRatchet {
    guard index >= start.index else { throw .unreachableIndex }
    var ratchet = start
    ratchet.advance(to: index)
    return ratchet
  }
}
