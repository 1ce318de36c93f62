import CCrypto
import ServerCore

/// The operator's TURN server, which shares a secret with this server.
///
/// Spec: Client-Server API, "Voice over IP"; draft-uberti-behave-turn-rest-00, which TURN servers know as `use-auth-secret`.
package struct TURNServer: Sendable {
  /// Each begins with `turn:` or `turns:`.
  package let uris: [String]
  package let secret: String
  package let lifetimeSeconds: Int64
  /// Whether guests get credentials too.
  package let isOpenToGuests: Bool

  package init(uris: [String], secret: String, lifetimeSeconds: Int64, isOpenToGuests: Bool) {
    self.uris = uris
    self.secret = secret
    self.lifetimeSeconds = lifetimeSeconds
    self.isOpenToGuests = isOpenToGuests
  }

  /// Returns a name and a password that are valid for the lifetime. The name contains the end and the user, the password
  /// is the Base64 of its HMAC-SHA1.
  ///
  /// - Parameters:
  ///   - user: the name that the operator of the TURN server sees.
  ///   - now: milliseconds since 1970.
  package func credentials(for user: some CustomStringConvertible, now: Int64) -> (username: String, password: String) {
    let username = "\(now / 1_000 + lifetimeSeconds):\(user)"
    let digest = KeyedHash.sha1.digest(of: Array(username.utf8), key: Array(secret.utf8))
    // Base64 of 20 bytes has 28 characters, and EVP_EncodeBlock ends it with NUL.
    var password = [UInt8](repeating: 0, count: 29)
    let length = EVP_EncodeBlock(&password, digest, 20)
    return (username, String(decoding: password.prefix(Int(length)), as: UTF8.self))
  }
}
