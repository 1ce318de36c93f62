import CCrypto
import JSON
import MatrixModel
import Synchronization
import Telemetry

/// Makes accounts for whoever knows `registration_shared_secret`, whatever registration says.
///
/// A request is proven by HMAC-SHA1 over a nonce of ours, the name, the password and the kind of account, parted by NUL: the
/// form that Synapse's tools speak, so that they work here. A nonce is good for one request within a minute.
package final class SharedSecretRegistration: Sendable {
  private static let nonceMilliseconds: Int64 = 60_000
  private static let noncesLimit = 1_000

  private let secret: [UInt8]
  private let accounts: Accounts
  private let clock: WallClock
  private let nonces = Mutex<[ByteString: Int64]>([:])

  /// nil where no secret is configured.
  package init?(_ accounts: Accounts) {
    guard let secret = accounts.configuration.registrationSharedSecret, !secret.isEmpty else { return nil }
    self.secret = Array(secret.utf8)
    self.accounts = accounts
    clock = accounts.configuration.clock
  }

  /// A nonce for the next request. Throws `M_LIMIT_EXCEEDED` while a thousand are out.
  package func nonce() throws(MatrixError) -> ByteString {
    let nonce = ByteString(RandomText.urlSafe(bytes: 48))
    let now = clock.now()
    let isIssued = nonces.withLock { nonces in
      nonces = nonces.filter { now - $0.value < Self.nonceMilliseconds }
      guard nonces.count < Self.noncesLimit else { return false }
      nonces[nonce] = now
      return true
    }
    guard isIssued else { throw .limitExceeded(retryAfterMilliseconds: Self.nonceMilliseconds) }
    return nonce
  }

  /// Makes the account and logs it in. Throws `M_UNKNOWN` (400) for a nonce that is not good, `M_FORBIDDEN` for a wrong
  /// `mac`, and what `Accounts.create` throws.
  package func register(_ body: JSON) async throws -> (userID: UserID, login: Login?) {
    let (nonce, username) = (try body.requiredText("nonce"), try body.requiredText("username"))
    let password = Redacted(try body.requiredText("password").string)
    let mac = try body.requiredText("mac")
    guard try body.optionalBool("admin") != true else {
      throw MatrixError.invalidParameter("This server has no administrators' accounts.")
    }
    let now = clock.now()
    let issued = nonces.withLock { $0.removeValue(forKey: nonce) }
    guard let issued, now - issued < Self.nonceMilliseconds else {
      throw MatrixError.unknown(status: 400, "The nonce is not known or has ended.")
    }
    guard isProven([nonce.string, username.string, password.reveal(), "notadmin"], by: mac) else {
      throw MatrixError.forbidden("The mac is wrong.")
    }
    return try await accounts.create(username, password: password, device: DeviceRequest())
  }

  private func isProven(_ parts: [String], by mac: ByteString) -> Bool {
    let message = Array(parts.map { Array($0.utf8) }.joined(separator: [0]))
    var digest = [UInt8](repeating: 0, count: 20)
    var count: UInt32 = 0
    guard HMAC(EVP_sha1(), secret, Int32(secret.count), message, message.count, &digest, &count) != nil else {
      return false
    }
    let alphabet = Array("0123456789abcdef".utf8)
    var hexadecimal: [UInt8] = []
    for byte in digest { hexadecimal += [alphabet[Int(byte >> 4)], alphabet[Int(byte & 15)]] }
    let given = Array(mac.utf8)
    return given.count == hexadecimal.count && CRYPTO_memcmp(given, hexadecimal, given.count) == 0
  }
}
