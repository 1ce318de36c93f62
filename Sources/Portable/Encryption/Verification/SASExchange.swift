import JSON
import MatrixModel
import Olm

/// The key agreement of a verification by emoji or numbers, and the MACs of the keys after it. Who has sent `m.key.verification.start` begins.
/// Spec: Client-Server API, "Short Authentication String (SAS) verification".
struct SASExchange: Sendable {
  private enum State: Sendable {
    /// `start` was sent.
    case started
    /// `accept` came: the other side has promised its key, and has ours.
    case promised(commitment: [UInt8])
    /// `accept` was sent.
    case accepted
    case agreed(SharedSAS, info: [UInt8])
  }

  static let agreement: ByteString = "curve25519-hkdf-sha256", hash: ByteString = "sha256"
  /// The one that is better first. The other is taken only where a side does not know it.
  private static let macs: [(name: ByteString, encoding: MACEncoding)] = [
    ("hkdf-hmac-sha256.v2", .base64), ("hkdf-hmac-sha256", .overwritten)
  ]
  private static let emoji: ByteString = "emoji", decimal: ByteString = "decimal"
  /// A user has one of them and that of the device; clients may add other devices.
  static let keysOfMAC = 100

  let isStarter: Bool
  /// The content of `start`, canonical: the commitment covers it.
  private let start: [UInt8]
  private let sas: SAS
  private let transaction: ByteString
  private let parties: VerificationParties
  private var state: State
  private var showsEmoji = true
  private var mac = macs[0]
  /// Keys of the other side whose MACs have proven right.
  private(set) var proven: VerifiedKeys?
  /// Whether the user has said that both sides show the same.
  private(set) var isConfirmed = false

  // MARK: Beginning

  /// Begins. `start` is the content that is sent.
  init(
    starting start: JSON, _ transaction: ByteString, _ parties: VerificationParties, random: inout SecretSource
  ) throws(CancelReason) {
    try self.init(start, isStarter: true, transaction, parties, random: &random)
  }

  /// Takes the other side's `start`.
  init(
    answering start: JSON, _ transaction: ByteString, _ parties: VerificationParties, random: inout SecretSource
  ) throws(CancelReason) {
    let offers = Self.strings(start["short_authentication_string"])
    let macs = Self.strings(start["message_authentication_codes"])
    guard Self.strings(start["key_agreement_protocols"]).contains(Self.agreement),
      Self.strings(start["hashes"]).contains(Self.hash), offers.contains(Self.decimal),
      let mac = Self.macs.first(where: { macs.contains($0.name) })
    else { throw .unknownMethod }
    try self.init(start, isStarter: false, transaction, parties, random: &random)
    self.mac = mac
    showsEmoji = offers.contains(Self.emoji)
  }

  private init(
    _ start: JSON, isStarter: Bool, _ transaction: ByteString, _ parties: VerificationParties, random: inout SecretSource
  ) throws(CancelReason) {
    do throws(JSONError) { self.start = try start.canonical() } catch { throw .invalidMessage }
    self.isStarter = isStarter
    self.transaction = transaction
    self.parties = parties
    sas = SAS(random: &random)
    state = isStarter ? .started : .accepted
  }

  private static func strings(_ list: JSON?) -> [ByteString] { list?.elements.prefix(16).compactMap { $0.text } ?? [] }

  // MARK: Messages of this side

  static func writeStart(to writer: inout JSONWriter) {
    writer.member("method", VerificationMethods.sas)
    writer.array("key_agreement_protocols", [agreement]) { $1.write($0) }
    writer.array("hashes", [hash]) { $1.write($0) }
    writer.array("message_authentication_codes", macs) { $1.write($0.name) }
    writer.array("short_authentication_string", [emoji, decimal]) { $1.write($0) }
  }

  func writeAccept(to writer: inout JSONWriter) {
    writer.member("method", VerificationMethods.sas)
    writer.member("key_agreement_protocol", Self.agreement)
    writer.member("hash", Self.hash)
    writer.member("message_authentication_code", mac.name)
    writer.array("short_authentication_string", showsEmoji ? [Self.emoji, Self.decimal] : [Self.decimal]) { $1.write($0) }
    writer.member("commitment", base64: commitment(to: sas.key))
  }

  func writeKey(to writer: inout JSONWriter) { writer.member("key", ByteString(decoding: sas.key.text)) }

  func writeMAC(to writer: inout JSONWriter) {
    guard case .agreed(let shared, _) = state else { return }
    let names = parties.ownKeyIDs
    writer.key("mac")
    writer.object { writer in
      for name in names {
        guard let key = parties.own.key(name) else { continue }
        writer.key(name)
        let mac = shared.mac(of: key.text, info: macInfo(parties.own, parties.other, name), mac.encoding)
        writer.write(ByteString(decoding: mac))
      }
    }
    let list = shared.mac(of: Self.list(names), info: macInfo(parties.own, parties.other, Self.listName), mac.encoding)
    writer.member("keys", ByteString(decoding: list))
  }

  private func commitment(to key: Curve25519Key) -> [UInt8] {
    var hash = SHA256()
    hash.add(key.text)
    hash.add(start)
    return hash.digest
  }

  // MARK: Messages of the other side

  mutating func accepted(_ content: JSON) throws(CancelReason) {
    guard case .started = state else { throw .unexpectedMessage }
    let strings = Self.strings(content["short_authentication_string"])
    guard content.text("key_agreement_protocol") == Self.agreement, content.text("hash") == Self.hash,
      let mac = Self.macs.first(where: { content.text("message_authentication_code") == $0.name }),
      strings.contains(Self.decimal) || strings.contains(Self.emoji)
    else { throw .unknownMethod }
    guard let commitment = content.base64("commitment") else { throw .invalidMessage }
    self.mac = mac
    showsEmoji = strings.contains(Self.emoji)
    state = .promised(commitment: commitment)
  }

  /// The other side's key.
  mutating func take(key content: JSON) throws(CancelReason) {
    guard let key = content.curve25519Key("key") else { throw .invalidMessage }
    switch state {
    case .promised(let promised):
      guard commitment(to: key) == promised else { throw .mismatchedCommitment }
    case .accepted: break
    case .started, .agreed: throw .unexpectedMessage
    }
    do throws(OlmError) { state = .agreed(try sas.agree(with: key), info: info(key)) } catch { throw .invalidMessage }
  }

  /// The other side's MACs: the user there has confirmed.
  mutating func take(mac content: JSON) throws(CancelReason) {
    guard case .agreed(let shared, _) = state, proven == nil else { throw .unexpectedMessage }
    guard let macs = content["mac"], macs.isObject, let list = content.text("keys") else { throw .invalidMessage }
    let members = macs.members.prefix(Self.keysOfMAC + 1).map { $0 }
    let names = members.map { $0.key }.ordered()
    guard members.count <= Self.keysOfMAC, Set(names).count == names.count else { throw .invalidMessage }
    func isRight(_ text: ByteString?, _ message: [UInt8], _ name: ByteString) -> Bool {
      guard let text else { return false }
      return shared.verifies(Array(text.utf8), of: message, info: macInfo(parties.other, parties.own, name), mac.encoding)
    }
    guard isRight(list, Self.list(names), Self.listName) else { throw .keyMismatch }
    var right: Set<ByteString> = []
    for member in members {
      // Of others this side has no copy.
      guard let key = parties.other.key(member.key) else { continue }
      guard isRight(member.value.text, key.text, member.key) else { throw .keyMismatch }
      right.insert(member.key)
    }
    guard let verified = parties.verified(by: right) else { throw .keyMismatch }
    proven = verified
  }

  // MARK: The user

  /// What both sides show; nil until the keys are exchanged.
  var strings: Verification.ShortStrings? {
    guard case .agreed(let shared, let info) = state else { return nil }
    return Verification.ShortStrings(emoji: showsEmoji ? shared.emoji(info: info) : [], decimals: shared.decimals(info: info))
  }

  var isStarted: Bool { if case .started = state { true } else { false } }

  mutating func confirm() { isConfirmed = true }

  // MARK: What is derived from

  private func info(_ key: Curve25519Key) -> [UInt8] {
    let (mine, theirs) = ((parties.own, sas.key), (parties.other, key))
    let (first, second) = isStarter ? (mine, theirs) : (theirs, mine)
    var info = Array("MATRIX_KEY_VERIFICATION_SAS|".utf8)
    for (party, key) in [first, second] {
      info += party.user.text.utf8 + [Self.bar] + party.device.text.utf8 + [Self.bar] + key.text + [Self.bar]
    }
    return info + transaction.utf8
  }

  private func macInfo(
    _ sender: VerificationParties.Party, _ receiver: VerificationParties.Party, _ name: ByteString
  ) -> [UInt8] {
    var info = Array("MATRIX_KEY_VERIFICATION_MAC".utf8)
    for party in [sender, receiver] { info += party.user.text.utf8 + party.device.text.utf8 }
    return info + transaction.utf8 + name.utf8
  }

  private static func list(_ names: [ByteString]) -> [UInt8] { Array(names.map { $0.utf8 }.joined(separator: [comma])) }

  private static let listName: ByteString = "KEY_IDS"
  private static let bar = UInt8(ascii: "|"), comma = UInt8(ascii: ",")
}
