import JSON
import MatrixModel
import ServerCore
import Synchronization
import Telemetry

/// Creates accounts for programs that know `registration_shared_secret`, whatever `registration` says.
///
/// A request is proven by HMAC-SHA1 over a nonce of ours, the name, the password, whether it is an administrator's account, and
/// the user type where there is one, parted by NUL: the form that Synapse's tools speak, so that they work here.
///
/// A nonce is good for one request within a minute. It carries its time and a proof that it is ours, so that asking for nonces
/// takes no memory; only those that were used are remembered, which takes the secret.
package final class SharedSecretRegistration: Sendable {
  private static let nonceMilliseconds: Int64 = 60_000
  /// Nonces used within a minute.
  private static let usedLimit = 10_000

  private let secret: [UInt8]
  /// Proves that a nonce is ours; new with each process.
  private let nonceKey = Array(RandomText.urlSafe(bytes: 32).utf8)
  private let names: NodeNames
  private let accounts: Accounts
  private let clock: WallClock
  /// Nonces that were used, with the time they were made.
  private let used = Mutex<[ByteString: Int64]>([:])

  /// nil where no secret is configured.
  package init?(_ accounts: Accounts) {
    guard let secret = accounts.configuration.registrationSharedSecret, !secret.isEmpty else { return nil }
    self.secret = Array(secret.utf8)
    self.accounts = accounts
    names = NodeNames(accounts.database)
    clock = accounts.configuration.clock
  }

  /// A nonce for the next request: milliseconds since 1970, random text, the proof, and whose it is among several nodes.
  package func nonce() -> ByteString {
    let content = "\(clock.now())-" + RandomText.name(length: 24)
    return ByteString(names.marked(content + "-" + proof(of: content)))
  }

  /// Makes the account and logs it in. Throws `M_UNKNOWN` (400) for a nonce that is not good, `M_FORBIDDEN` for a wrong
  /// `mac`, `Elsewhere` for a nonce of another node, and what `Accounts.create` throws.
  package func register(_ body: JSON) async throws -> (userID: UserID, login: Login?) {
    let (nonce, username) = (try body.requiredText("nonce"), try body.requiredText("username"))
    let password = Redacted(try body.requiredText("password").string)
    let mac = try body.requiredText("mac")
    var new = NewAccount(TypedName.meant(by: username))
    new.standing.isAdmin = try body.optionalBool("admin") ?? false
    new.userType = try body.optionalText("user_type")
    new.displayName = try body.optionalText("displayname")
    if let name = new.displayName, name.count > Profiles.displayNameBytesLimit {
      throw MatrixError.invalidParameter("A display name has at most \(Profiles.displayNameBytesLimit) bytes.")
    }
    let made = try time(of: nonce)
    var parts = [nonce.string, username.string, password.reveal(), new.standing.isAdmin ? "admin" : "notadmin"]
    if let userType = new.userType { parts.append(userType.string) }
    guard Self.hexadecimal(of: parts, .sha1, secret).isSame(as: mac) else {
      throw MatrixError.forbidden("The mac is wrong.")
    }
    try use(nonce, made: made)
    let inhibitsLogin = try body.optionalBool("inhibit_login") ?? false
    return try await accounts.create(new, password: password, device: inhibitsLogin ? nil : DeviceRequest())
  }

  /// When a nonce was made. Throws `M_UNKNOWN` (400) for one that is not ours or has ended.
  private func time(of nonce: ByteString) throws -> Int64 {
    try names.check(nonce.string, orElse: Self.unknownNonce)
    let parts = nonce.string.prefix { $0 != "." }.utf8.split(separator: UInt8(ascii: "-"))
    guard parts.count == 3, let made = Int64(String(decoding: parts[0], as: UTF8.self)) else { throw Self.unknownNonce }
    let content = String(decoding: parts[0], as: UTF8.self) + "-" + String(decoding: parts[1], as: UTF8.self)
    guard proof(of: content).isSame(as: ByteString(decoding: parts[2])),
      (0..<Self.nonceMilliseconds).contains(clock.now() - made)
    else { throw Self.unknownNonce }
    return made
  }

  private func use(_ nonce: ByteString, made: Int64) throws(MatrixError) {
    let now = clock.now()
    enum Verdict { case fresh, used, tooMany }
    let verdict = used.withLock { used -> Verdict in
      if used.count >= Self.usedLimit { used = used.filter { now - $0.value < Self.nonceMilliseconds } }
      guard used[nonce] == nil else { return .used }
      guard used.count < Self.usedLimit else { return .tooMany }
      used[nonce] = made
      return .fresh
    }
    if verdict == .used { throw Self.unknownNonce }
    if verdict == .tooMany { throw .limitExceeded(retryAfterMilliseconds: Self.nonceMilliseconds) }
  }

  private func proof(of content: String) -> String { Self.hexadecimal(of: [content], .sha256, nonceKey) }

  private static func hexadecimal(of parts: [String], _ hash: KeyedHash, _ key: [UInt8]) -> String {
    KeyedHash.hexadecimal(hash.digest(of: Array(parts.map { Array($0.utf8) }.joined(separator: [0])), key: key))
  }

  private static let unknownNonce = MatrixError.unknown(status: 400, "The nonce is not known or has ended.")
}

extension String {
  fileprivate func isSame(as other: ByteString) -> Bool { KeyedHash.areSame(Array(utf8), other.utf8) }
}
