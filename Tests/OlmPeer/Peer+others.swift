import Olm

// Verification, backups, files, and the primitives below.
extension Peer {
  mutating func answerOfOthers(_ arguments: Arguments) throws(OlmError) -> [UInt8]? {
    switch arguments.command {
    case "sas":
      let sas = SAS(random: &random)
      verifications[try arguments.name(0)] = sas
      return sas.key.text
    case "sas-shown":
      let (shared, info) = (try shared(arguments), try arguments.bytes(2))
      return words(list(shared.emoji(info: info)), list(shared.decimals(info: info)))
    case "sas-mac":
      return try shared(arguments).mac(of: arguments.bytes(3), info: arguments.bytes(2))
    case "sas-mac-overwritten":
      return try shared(arguments).mac(of: arguments.bytes(3), info: arguments.bytes(2), .overwritten)
    case "backup-encrypt":
      let message = try BackupCipher.encrypt(arguments.bytes(1), to: arguments.key(0), random: &random)
      return words(message.ephemeral.text, base64(message.ciphertext), base64(message.mac))
    case "backup-decrypt":
      guard let pair = Curve25519KeyPair(Secret(try arguments.bytes(0))) else { throw .malformed }
      let message = BackupCipher.Message(
        ephemeral: try arguments.key(1), ciphertext: try arguments.bytes(2), mac: try arguments.bytes(3))
      return base64(try BackupCipher.decrypt(message, with: pair))
    case "recovery-key":
      guard let key = RecoveryKey(Secret(try arguments.bytes(0))) else { throw .malformed }
      return base64(key.text)
    case "read-recovery-key":
      return base64(try RecoveryKey(text: arguments.bytes(0)).secret.exposed())
    case "open-key-file":
      let file = try KeyFile(arguments.bytes(0))
      let keys = file.passphraseKey.derive(from: try arguments.bytes(1), byteCount: KeyFile.keysByteCount)
      return base64(try file.open(keys))
    case "seal-key-file":
      let passphraseKey = try PassphraseKey(salt: arguments.bytes(1), rounds: 3)
      let keys = passphraseKey.derive(from: try arguments.bytes(0), byteCount: KeyFile.keysByteCount)
      return base64(try KeyFile.seal(arguments.bytes(2), keys, passphraseKey, random: &random))
    case "dehydrate":
      guard let account = accounts[try arguments.name(0)] else { throw .malformed }
      let device = try DehydratedAccount(account, with: Secret(try arguments.bytes(1)), random: &random)
      return words(base64(device.sealed), base64(device.nonce))
    case "rehydrate":
      let device = DehydratedAccount(sealed: try arguments.bytes(2), nonce: try arguments.bytes(3))
      let account = try device.open(with: Secret(try arguments.bytes(1)))
      accounts[try arguments.name(0)] = account
      return words(account.signing.key.text, account.identity.key.text, decimal(account.oneTimeKeys.count))
    default: return try answerOfPrimitives(arguments)
    }
  }

  private func answerOfPrimitives(_ arguments: Arguments) throws(OlmError) -> [UInt8]? {
    switch arguments.command {
    case "counter":
      guard var cipher = CounterCipher(key: Secret(try arguments.bytes(0)), counter: try arguments.bytes(1)) else {
        throw .malformed
      }
      var bytes = try arguments.bytes(2)
      cipher.apply(to: &bytes)
      return base64(bytes)
    case "hash": return base64(SHA256.digest(of: try arguments.bytes(0)))
    case "tag": return base64(Secret(try arguments.bytes(0)).tag(of: try arguments.bytes(1)))
    case "derive":
      let salt = Secret(try arguments.bytes(1))
      return base64(
        Secret(try arguments.bytes(0)).derived(Int(try arguments.number(3)), info: try arguments.bytes(2), salt: salt).exposed()
      )
    case "passphrase":
      let key = try PassphraseKey(salt: arguments.bytes(1), rounds: arguments.number(2))
      return base64(key.derive(from: try arguments.bytes(0), byteCount: 64).exposed())
    default: return nil
    }
  }

  private func shared(_ arguments: Arguments) throws(OlmError) -> SharedSAS {
    guard let sas = verifications[try arguments.name(0)] else { throw .malformed }
    return try sas.agree(with: arguments.key(1))
  }
}
