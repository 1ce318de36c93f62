import Olm

/// What two devices and a room have when an input arrives. The seed makes the same each time.
private struct OlmWorld: Sendable {
  let account: Account
  let sender: Curve25519Key
  let session: Session
  let reader: InboundGroupSession

  init() throws(OlmError) {
    var random = SecretSource.repeating(seed: Array("a world of Olm".utf8))
    var account = Account(random: &random)
    account.replaceFallbackKey(random: &random)
    let sender = Account(random: &random)
    guard let fallbackKey = account.fallbackKey else { throw .malformed }
    var theirs = try sender.session(to: account.identity.key, oneTime: fallbackKey.pair.key, random: &random)
    session = try account.accept(theirs.encrypt([], random: &random).body, from: sender.identity.key).session
    reader = try InboundGroupSession(sharedKey: OutboundGroupSession(random: &random).sharedKey.exposed())
    self.account = account
    self.sender = sender.identity.key
  }

  static let shared = try? OlmWorld()
}

/// Messages of all kinds, from someone who knows no key: nothing is read, nothing changes.
func fuzzOlmMessage(_ bytes: UnsafeRawBufferPointer) {
  let bytes = Array(bytes)
  guard let world = OlmWorld.shared else { fatalError("the world of Olm cannot be made") }
  var (account, session, reader) = (world.account, world.session, world.reader)
  _ = try? session.isBegun(by: bytes)
  precondition((try? account.accept(bytes, from: world.sender)) == nil)
  precondition((try? session.decrypt(.normal(bytes))) == nil)
  precondition((try? reader.decrypt(bytes)) == nil)
  precondition(account.record.isEqual(to: world.account.record) && session.record.isEqual(to: world.session.record))
}

/// Keys as others hand them on, or as people type them: what is read is written the same.
func fuzzOlmKey(_ bytes: UnsafeRawBufferPointer) {
  let bytes = Array(bytes)
  _ = try? InboundGroupSession(sharedKey: bytes)
  if let reader = try? InboundGroupSession(exportedKey: bytes) {
    precondition((try? reader.exportedKey(at: reader.firstIndex).exposed()) == bytes)
    precondition((try? reader.agrees(with: reader)) == true)
    _ = try? reader.exportedKey(at: .max)
  }
  if let key = try? RecoveryKey(text: bytes) {
    precondition((try? RecoveryKey(text: key.text))?.secret.isEqual(to: key.secret) == true)
  }
  if let decoded = Base64.decode(bytes) {
    precondition(Base64.encode(decoded) == bytes.filter { $0 != UInt8(ascii: "=") })
  }
}

/// Records of a damaged store: what is read is written the same, and works.
func fuzzOlmRecord(_ bytes: UnsafeRawBufferPointer) {
  let record = Secret(Array(bytes))
  var random = SecretSource.repeating(seed: [0])
  if let account = try? Account(record: record) { precondition(account.record.isEqual(to: record)) }
  if var session = try? Session(record: record) {
    precondition(session.record.isEqual(to: record))
    _ = try? session.encrypt([], random: &random)
  }
  if var room = try? OutboundGroupSession(record: record) {
    precondition(room.record.isEqual(to: record))
    _ = try? room.encrypt([])
  }
  if let reader = try? InboundGroupSession(record: record) {
    precondition(reader.record.isEqual(to: record))
    _ = try? reader.exportedKey(at: .max)
  }
}

/// Key files that somebody was given. No keys fit.
func fuzzKeyFile(_ bytes: UnsafeRawBufferPointer) {
  guard let file = try? KeyFile(Array(bytes)) else { return }
  precondition((try? file.open(Secret([UInt8](repeating: 0, count: KeyFile.keysByteCount)))) == nil)
}

/// Dehydrated devices that somebody wrote who has the key: what is read is written the same. Without the key nothing is read.
func fuzzDehydratedAccount(_ bytes: UnsafeRawBufferPointer) {
  let (bytes, key) = (Array(bytes), Secret([UInt8](repeating: 5, count: DehydratedAccount.keyByteCount)))
  let nonce = [UInt8](repeating: 0, count: DehydratedAccount.nonceByteCount)
  precondition((try? DehydratedAccount(sealed: bytes, nonce: nonce).open(with: key)) == nil)
  guard let account = try? DehydratedAccount.account(from: Secret(bytes)) else { return }
  var random = SecretSource.repeating(seed: [0])
  let opened = try? DehydratedAccount(account, with: key, random: &random).open(with: key)
  precondition(opened?.record.isEqual(to: account.record) == true)
}
