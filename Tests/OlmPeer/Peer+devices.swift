import Olm

// Accounts and sessions.
extension Peer {
  mutating func answerOfDevices(_ arguments: Arguments) throws(OlmError) -> [UInt8]? {
    switch arguments.command {
    case "account":
      let account = Account(random: &random)
      accounts[try arguments.name(0)] = account
      return words(account.signing.key.text, account.identity.key.text)
    case "one-time-key":
      return try withAccount(arguments.name(0)) { account, random throws(OlmError) in
        account.makeOneTimeKeys(1, random: &random)
        return account.oneTimeKeys.last?.pair.key.text ?? []
      }
    case "fallback-key":
      return try withAccount(arguments.name(0)) { account, random throws(OlmError) in
        account.replaceFallbackKey(random: &random)
        return account.fallbackKey?.pair.key.text ?? []
      }
    case "sign":
      let message = try arguments.bytes(1)
      return try withAccount(arguments.name(0)) { account, _ throws(OlmError) in base64(account.signing.sign(message)) }
    case "verify":
      guard let key = Ed25519Key(try arguments.bytes(0)) else { throw .malformed }
      return yes(key.verifies(try arguments.bytes(2), of: try arguments.bytes(1)))
    case "begin":
      let (identity, oneTime) = (try arguments.key(2), try arguments.key(3))
      let account = try account(arguments.name(1))
      let session = try account.session(to: identity, oneTime: oneTime, random: &random)
      sessions[try arguments.name(0)] = session
      return session.id
    case "accept":
      let (sender, message) = (try arguments.key(2), try arguments.bytes(3))
      var account = try account(arguments.name(1))
      let (session, plaintext) = try account.accept(message, from: sender)
      accounts[try arguments.name(1)] = account
      sessions[try arguments.name(0)] = session
      return words(session.id, base64(plaintext))
    case "encrypt":
      let text = try arguments.bytes(1)
      return try withSession(arguments.name(0)) { session, random throws(OlmError) in
        let message = try session.encrypt(text, random: &random)
        return words(decimal(message.type), base64(message.body))
      }
    case "decrypt":
      guard let message = OlmMessage(type: Int64(try arguments.number(1)), body: try arguments.bytes(2)) else {
        throw .malformed
      }
      return try withSession(arguments.name(0)) { session, _ throws(OlmError) in base64(try session.decrypt(message)) }
    default: return nil
    }
  }

  private func account(_ name: Name) throws(OlmError) -> Account {
    guard let account = accounts[name] else { throw .malformed }
    return account
  }

  private mutating func withAccount(
    _ name: Name, _ body: (inout Account, inout SecretSource) throws(OlmError) -> [UInt8]
  ) throws(OlmError) -> [UInt8] {
    var account = try Account(record: account(name).record)
    let answer = try body(&account, &random)
    accounts[name] = account
    return answer
  }

  private mutating func withSession(
    _ name: Name, _ body: (inout Session, inout SecretSource) throws(OlmError) -> [UInt8]
  ) throws(OlmError) -> [UInt8] {
    guard let kept = sessions[name] else { throw .malformed }
    var session = try Session(record: kept.record)
    let answer = try body(&session, &random)
    sessions[name] = session
    return answer
  }
}
