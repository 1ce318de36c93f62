import CCrypto
import Database
import JSON
import MatrixModel
import Outbound
import ServerCore
import Synchronization

/// Shows that an e-mail address belongs to who asks: a link in a mail is confirmed on a page of ours, then the session proves
/// the address to one operation.
///
/// A link and what it confirmed last an hour each. A session is for one purpose: who confirms that an address may be used for a new
/// account does not thereby let another's password be changed.
///
/// Spec: Client-Server API, `…/email/requestToken`; Identity Service API, "Email associations".
package final class EmailValidations: Sendable {
  package enum Purpose: String, Sendable, CaseIterable {
    case registration, addition
    case passwordReset = "password_reset"
  }

  /// The body of a `requestToken`.
  package struct Request: Sendable {
    package let clientSecret: ByteString
    package let address: MailAddress
    package let sendAttempt: Int64
    package let nextLink: String?

    /// Throws `M_MISSING_PARAM`, `M_BAD_JSON` and `M_INVALID_PARAM`. `id_server` is not looked at: "this parameter is ignored
    /// when the homeserver handles 3PID verification".
    package init(_ body: JSON) throws(MatrixError) {
      clientSecret = try EmailProof.clientSecret(try body.requiredText("client_secret"))
      guard let address = MailAddress(try body.requiredText("email").string) else {
        throw .invalidParameter("This is not an e-mail address that mail can be sent to.")
      }
      self.address = address
      guard let attempt = try body.optionalInteger("send_attempt") else { throw .missingParameter("send_attempt") }
      sendAttempt = attempt
      nextLink = try body.optionalText("next_link")?.string
    }
  }

  /// An address that was confirmed, as its session says.
  struct Validated: Sendable, Equatable {
    let address: MailAddress
    /// Milliseconds since 1970.
    let validated: Int64
  }

  static let lifetimeMilliseconds: Int64 = 60 * 60_000
  /// Sessions kept at once; beyond it one of the network with most of them goes, so that nobody keeps the others out.
  static let sessionsLimit: Int64 = 10_000

  let configuration: IdentityConfiguration
  private let serverName: ServerName
  private let database: Database
  private let mail: MailSender?
  private let clock: WallClock
  private let budget = Mutex(MailBudget())

  package init(
    _ configuration: IdentityConfiguration, of serverName: ServerName, database: Database, mail: MailSender?, clock: WallClock
  ) {
    self.configuration = configuration
    self.serverName = serverName
    self.database = database
    self.mail = mail
    self.clock = clock
  }

  /// Whether e-mail addresses can be confirmed at all.
  package var isAvailable: Bool { configuration.confirmsEmail }

  /// What is said where they cannot, and of phone numbers always.
  package static func notSupported(_ what: StaticString) -> MatrixError {
    MatrixError(status: 400, "M_THREEPID_MEDIUM_NOT_SUPPORTED", "This server cannot confirm \(what).")
  }

  // MARK: Asking

  /// Sends the mail, unless this attempt has been seen before, and returns the session's ID.
  ///
  /// - Parameter network: who asks, see `SocketAddress.network`.
  /// Throws `M_THREEPID_MEDIUM_NOT_SUPPORTED`, `M_INVALID_PARAM` for a `next_link` that is not trusted, `M_LIMIT_EXCEEDED` for
  /// too many mails to the address, `M_UNKNOWN` (500) where the mail could not be sent, and, if the operator wants so,
  /// `M_THREEPID_IN_USE` and `M_THREEPID_NOT_FOUND`.
  package func request(_ request: Request, for purpose: Purpose, from network: UInt64) async throws -> ByteString {
    guard let mail, let base = configuration.publicBaseURL else { throw Self.notSupported("e-mail addresses") }
    if let link = request.nextLink, !configuration.trusts(link) {
      throw MatrixError.invalidParameter("'next_link' is not a client that this server trusts.")
    }
    let token = RandomText.urlSafe(bytes: 32)
    let step = try await database.write { [self] tx in try take(tx, request, purpose, token, network) }
    guard step.needsMail else { return step.sessionID }
    do {
      try budget.withLock { budget throws(MatrixError) in
        try budget.take(request.address, now: clock.now(), from: network)
      }
      let link = base + Self.confirmationPath + "?sid=\(step.sessionID)&token=\(token)"
      try await mail.send(
        IdentityMails(server: serverName, link: link).mail(to: request.address, for: purpose, step.isExpected))
    } catch {
      // The same attempt may be tried again.
      try await database.write { tx in
        try tx.execute(
          "UPDATE email_validation SET send_attempt = $1 WHERE session_id = $2 AND send_attempt = $3",
          step.previousAttempt, step.sessionID, request.sendAttempt)
      }
      if error is OutboundError { throw MatrixError.unknown(status: 502, "The mail could not be sent; try again later.") }
      throw error
    }
    return step.sessionID
  }

  /// The path of the page that a mail's link leads to.
  package static let confirmationPath = "/_matrix/client/unstable/martlet.identity/email/confirm"

  private struct Step {
    let sessionID: ByteString
    let previousAttempt: Int64
    let needsMail: Bool
    /// Whether the address is in the state that the purpose needs: its owner is told otherwise.
    let isExpected: Bool
  }

  private func take(
    _ tx: WriteTransaction, _ request: Request, _ purpose: Purpose, _ token: String, _ network: UInt64
  ) throws -> Step {
    let now = clock.now()
    let isKnown = try ThirdPartyIdentifiers.owner(tx, request.address) != nil
    let isExpected = isKnown == (purpose == .passwordReset)
    if configuration.tellsKnownAddresses, !isExpected {
      throw isKnown
        ? MatrixError.emailInUse
        : MatrixError(status: 400, "M_THREEPID_NOT_FOUND", "No account here has this e-mail address.")
    }
    try tx.execute("DELETE FROM email_validation WHERE renewed < $1", now - Self.lifetimeMilliseconds)
    let hash = isExpected ? Self.hash(token) : nil
    let known = try tx.first(
      """
      SELECT session_id, send_attempt FROM email_validation WHERE address = $1 AND client_secret = $2 AND purpose = $3
      """, request.address.description, request.clientSecret, purpose.rawValue
    ) { row in (id: ByteString(row.text(0)), attempt: row.integer(1)) }
    if let known {
      guard request.sendAttempt > known.attempt else {
        return Step(sessionID: known.id, previousAttempt: known.attempt, needsMail: false, isExpected: isExpected)
      }
      try tx.execute(
        "UPDATE email_validation SET send_attempt = $1, token = $2, next_link = $3, renewed = $4 WHERE session_id = $5",
        request.sendAttempt, hash, request.nextLink, now, known.id)
      return Step(sessionID: known.id, previousAttempt: known.attempt, needsMail: true, isExpected: isExpected)
    }
    try Self.makeRoom(tx)
    let sessionID = ByteString(RandomText.urlSafe(bytes: 18))
    try tx.execute(
      """
      INSERT INTO email_validation(session_id, purpose, address, client_secret, send_attempt, token, next_link, renewed,
        network)
      VALUES($1, $2, $3, $4, $5, $6, $7, $8, $9)
      """, sessionID, purpose.rawValue, request.address.description, request.clientSecret, request.sendAttempt, hash,
      request.nextLink, now, Int64(bitPattern: network))
    return Step(sessionID: sessionID, previousAttempt: -1, needsMail: true, isExpected: isExpected)
  }

  /// Where there are as many as may be, forgets a session of the network that has most: the oldest that is not confirmed.
  private static func makeRoom(_ tx: WriteTransaction) throws {
    let count = try tx.first("SELECT COUNT(*) FROM email_validation") { $0.integer(0) } ?? 0
    guard count >= sessionsLimit else { return }
    try tx.execute(
      """
      DELETE FROM email_validation WHERE session_id = (
        SELECT session_id FROM email_validation
        WHERE network = (SELECT network FROM email_validation GROUP BY network ORDER BY COUNT(*) DESC, network LIMIT 1)
        ORDER BY CASE WHEN validated IS NULL THEN 0 ELSE 1 END, renewed, session_id LIMIT 1)
      """)
  }

  // MARK: Confirming

  /// What a link from a mail is about, for the page that asks whether to confirm it; nil for one that is not known or has ended.
  package func pending(_ sessionID: ByteString, _ token: ByteString) async throws -> (
    purpose: Purpose, address: MailAddress, nextLink: String?
  )? {
    let (now, hash) = (clock.now(), Self.hash(token.string))
    return try await database.read { tx in
      let found = try tx.first(
        "SELECT purpose, address, next_link FROM email_validation WHERE session_id = $1 AND token = $2 AND renewed > $3",
        sessionID, hash, now - Self.lifetimeMilliseconds
      ) { row in (Purpose(rawValue: row.text(0)), MailAddress(row.text(1)), row.optionalText(2)) }
      guard let (purpose, address, nextLink) = found, let purpose, let address else { return nil }
      return (purpose, address, nextLink)
    }
  }

  /// Confirms an address by the link of its mail. False for a link that is not known or has ended; one that was used already
  /// confirms again.
  package func confirm(_ sessionID: ByteString, _ token: ByteString) async throws -> Bool {
    let (now, hash) = (clock.now(), Self.hash(token.string))
    return try await database.write { tx in
      try tx.changes(
        """
        UPDATE email_validation SET validated = COALESCE(validated, $1), renewed = $1
        WHERE session_id = $2 AND token = $3 AND renewed > $4
        """, now, sessionID, hash, now - Self.lifetimeMilliseconds) == 1
    }
  }

  private static func hash(_ token: String) -> [UInt8] { AccessTokenHash(of: Array(token.utf8)[...]).bytes }

  // MARK: Proving

  /// The address that the proof's session has confirmed; nil where it has not, or is of another purpose.
  func validated(_ proof: EmailProof, for purpose: Purpose) async throws -> Validated? {
    try await database.read { [self] tx in try validated(tx, proof, for: purpose) }
  }

  /// Throws `M_THREEPID_AUTH_FAILED` where the proof's session has not confirmed an address for the purpose.
  package func check(_ proof: EmailProof, for purpose: Purpose) async throws {
    guard try await validated(proof, for: purpose) != nil else { throw Self.notConfirmed }
  }

  /// Gives the confirmed address to an account. Throws `M_THREEPID_AUTH_FAILED`, `M_THREEPID_IN_USE`, `M_THREEPID_DENIED`.
  package func add(_ proof: EmailProof, to userID: UserID) async throws {
    try await database.write { [self] tx in try give(tx, proof, for: .addition, to: userID) }
  }

  func give(_ tx: WriteTransaction, _ proof: EmailProof, for purpose: Purpose, to userID: UserID) throws {
    let validated = try use(tx, proof, for: purpose)
    try ThirdPartyIdentifiers.add(tx, validated.address, of: userID, validated: validated.validated, now: clock.now())
  }

  func validated(_ tx: ReadTransaction, _ proof: EmailProof, for purpose: Purpose) throws -> Validated? {
    let found = try tx.first(
      """
      SELECT address, validated FROM email_validation WHERE session_id = $1 AND client_secret = $2 AND purpose = $3
        AND validated IS NOT NULL AND renewed > $4
      """, proof.sessionID, proof.clientSecret, purpose.rawValue, clock.now() - Self.lifetimeMilliseconds
    ) { row in (MailAddress(row.text(0)), row.integer(1)) }
    guard let (address, validated) = found, let address else { return nil }
    return Validated(address: address, validated: validated)
  }

  /// Takes what the proof's session has confirmed, once. Throws `M_THREEPID_AUTH_FAILED` where it has not.
  func use(_ tx: WriteTransaction, _ proof: EmailProof, for purpose: Purpose) throws -> Validated {
    guard let validated = try validated(tx, proof, for: purpose) else { throw Self.notConfirmed }
    try tx.execute("DELETE FROM email_validation WHERE session_id = $1", proof.sessionID)
    return validated
  }

  private static let notConfirmed = MatrixError(
    status: 400, "M_THREEPID_AUTH_FAILED", "The e-mail address is not confirmed: follow the link in the mail first.")
}

/// The session and its secret, by which a client says that an address was confirmed.
package struct EmailProof: Sendable {
  package let sessionID: ByteString
  package let clientSecret: ByteString

  /// From `sid` and `client_secret`. Throws `M_MISSING_PARAM`, `M_BAD_JSON`, `M_INVALID_PARAM`.
  package init(_ json: JSON) throws(MatrixError) {
    sessionID = try json.requiredText("sid")
    clientSecret = try Self.clientSecret(try json.requiredText("client_secret"))
  }

  /// Spec: "characters `[0-9a-zA-Z.=_-]`. Its length must not exceed 255 characters and it must not be empty."
  static func clientSecret(_ text: ByteString) throws(MatrixError) -> ByteString {
    let isSecret =
      (1...255).contains(text.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: ".=_-".utf8.contains(byte)
        }
      }
    guard isSecret else {
      throw .invalidParameter("'client_secret' has 1 to 255 letters, digits and . = _ - only.")
    }
    return text
  }
}

/// The limit of mails to one address, counted over all requesters: five at once, then one every five minutes.
struct MailBudget {
  static let burst = 5.0
  static let millisecondsPerMail = 300_000.0
  static let addressesLimit = 10_000

  private typealias Bucket = (mails: Double, at: Int64)

  private var buckets = SharedPlaces<MailAddress, Bucket>(limit: addressesLimit)

  /// Throws `M_LIMIT_EXCEEDED` with the time until the next is allowed.
  mutating func take(_ address: MailAddress, now: Int64, from network: UInt64) throws(MatrixError) {
    if buckets.isFull { buckets.removeAll { Self.filled($0, now) >= Self.burst } }
    let mails = buckets[address].map { Self.filled($0, now) } ?? Self.burst
    guard mails >= 1 else {
      throw .limitExceeded(retryAfterMilliseconds: Int64(((1 - mails) * Self.millisecondsPerMail).rounded(.up)))
    }
    buckets.put((mails - 1, now), at: address, from: network)
  }

  private static func filled(_ bucket: Bucket, _ now: Int64) -> Double {
    min(burst, bucket.mails + Double(max(0, now - bucket.at)) / millisecondsPerMail)
  }
}
