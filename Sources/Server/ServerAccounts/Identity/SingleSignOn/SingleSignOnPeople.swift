import Database
import JSON
import MatrixModel

/// Which account belongs to which person at a provider.
///
/// The provider's `sub` decides, nothing else: a name or an e-mail address may pass to another person. So a person's
/// first login creates an account, under another name if the preferred name is taken.
final class SingleSignOnPeople: Sendable {
  private let database: Database
  private let accounts: Accounts

  /// Numbers tried behind a name that is taken; then the name is chosen at random.
  private static let numbersTried = 2...20
  /// Bytes of a localpart from a claim.
  private static let localpartBytesLimit = 64

  init(database: Database, accounts: Accounts) {
    self.database = database
    self.accounts = accounts
  }

  /// Returns the person's account, and creates it if necessary.
  ///
  /// Throws `M_USER_DEACTIVATED`, what `AccountStanding.requireUse` throws, and `M_FORBIDDEN` where no accounts are made.
  func account(
    of person: OpenIDClient.Person, at provider: SingleSignOnProvider
  ) async throws -> (userID: UserID, isNew: Bool) {
    try await database.write { [self] tx in
      let now = accounts.configuration.clock.now()
      if let known = try Self.known(tx, person, provider) {
        guard let account = try Accounts.account(tx, known), !account.isDeactivated else {
          throw MatrixError(status: 403, .userDeactivated, "Your account here has been deactivated.")
        }
        try account.standing.requireUse(at: now)
        return (known, false)
      }
      guard provider.makesAccounts else {
        throw MatrixError.forbidden("You have no account here yet. Ask the people who run this server for one.")
      }
      return (try make(tx, person, provider, now), true)
    }
  }

  /// Returns the person's account; nil if they have none yet.
  func known(_ person: OpenIDClient.Person, at provider: SingleSignOnProvider) async throws -> UserID? {
    try await database.read { tx in try Self.known(tx, person, provider) }
  }

  private static func known(
    _ tx: ReadTransaction, _ person: OpenIDClient.Person, _ provider: SingleSignOnProvider
  ) throws -> UserID? {
    try tx.first(
      "SELECT user_id FROM single_sign_on WHERE provider = $1 AND subject = $2", provider.id, person.subject
    ) { row in row.identifier(0) }
  }

  private func make(
    _ tx: WriteTransaction, _ person: OpenIDClient.Person, _ provider: SingleSignOnProvider, _ now: Int64
  ) throws -> UserID {
    let (localpart, userID) = try freeName(tx, person.localpart.flatMap(Self.localpart(from:)))
    var new = NewAccount(localpart)
    new.displayName = person.displayName.flatMap { name in
      name.isEmpty || name.count > Profiles.displayNameBytesLimit ? nil : name
    }
    try accounts.create(tx, new, userID, passwordHash: nil)
    try tx.execute(
      "INSERT INTO single_sign_on(provider, subject, user_id, created) VALUES($1, $2, $3, $4)",
      provider.id, person.subject, userID, now)
    if let email = person.email, try ThirdPartyIdentifiers.owner(tx, email) == nil {
      try ThirdPartyIdentifiers.add(tx, email, of: userID, validated: now, now: now)
    }
    return userID
  }

  /// Throws for a name that is an application service's.
  private func requireMayRegister(_ userID: UserID) throws { try accounts.requireMayRegister(userID) }

  private func freeName(_ tx: ReadTransaction, _ wanted: ByteString?) throws -> (ByteString, UserID) {
    let server = accounts.configuration.serverName
    if let wanted {
      let names = [wanted] + Self.numbersTried.map { ByteString(wanted.string + "\($0)") }
      for name in names {
        guard let userID = UserID(localpart: name, server: server), try !Accounts.exists(tx, userID) else { continue }
        if (try? requireMayRegister(userID)) != nil { return (name, userID) }
      }
    }
    let name = Accounts.randomLocalpart()
    return (name, try accounts.newUserID(name))
  }

  /// A claim as a localpart: what it has before an `@`, encoded. nil where nothing is left.
  ///
  /// Spec: Appendices, "Mapping from other character sets".
  static func localpart(from claim: ByteString) -> ByteString? {
    let name = claim.utf8.prefix { $0 != UInt8(ascii: "@") }
    var bytes: [UInt8] = []
    for byte in name {
      let encoded: [UInt8]
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): encoded = [byte | 0x20]
      case UInt8(ascii: "_") where bytes.isEmpty: encoded = Array("=5f".utf8)
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): encoded = [byte]
      default:
        let digits = Array("0123456789abcdef".utf8)
        let isPlain = "._-/+".utf8.contains(byte)
        encoded = isPlain ? [byte] : [UInt8(ascii: "="), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
      guard bytes.count + encoded.count <= localpartBytesLimit else { break }
      bytes += encoded
    }
    return bytes.isEmpty ? nil : ByteString(String(decoding: bytes, as: UTF8.self))
  }
}
