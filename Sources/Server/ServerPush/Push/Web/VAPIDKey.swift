import JSON
import RoomRules
import ServerAccounts
import ServerCore
import Synchronization

/// Who the server is to push services: a key that browsers are told when they subscribe, so that nobody else can push to them, and
/// which signs each push. RFC 8292.
///
/// In `<data directory>/web-push.key`, PEM, mode 0600; made at the first start. Without it every subscription is void: keep a copy.
package final class VAPIDKey: Sendable {
  /// A token is good for this long; push services take no more than 24 hours. RFC 8292 §2.
  private static let lifetimeSeconds: Int64 = 12 * 60 * 60
  /// A token is used as long as it has this much left: push services remember that it is valid.
  private static let remainderSeconds: Int64 = 60 * 60
  /// Push services whose tokens are kept; beyond it all are made anew.
  private static let tokensLimit = 1_000

  private struct Token: Sendable {
    let text: String
    let expiry: Int64
  }

  /// The public key in URL-safe Base64 without padding, as `applicationServerKey` of a browser takes it.
  package let publicKey: String
  private let key: P256KeyPair
  /// The contact for operators of push services: a `mailto:` or `https:` URL.
  private let subject: String
  private let tokens = Mutex<[String: Token]>([:])

  /// Throws `SecretFileError` where the file cannot be read, is no key, or cannot be made.
  package convenience init(in directory: String, subject: String) throws(SecretFileError) {
    let path = directory + "/web-push.key"
    if let pem = try SecretFile.read(path) {
      guard let key = P256KeyPair(pem: pem) else { throw SecretFileError(path: path, reason: "it holds no key of P-256") }
      self.init(key, subject: subject)
      return
    }
    let key = P256KeyPair()
    guard let pem = key.pem else { throw SecretFileError(path: path, reason: "OpenSSL does not write it") }
    try SecretFile.write(pem, to: path)
    self.init(key, subject: subject)
  }

  init(_ key: P256KeyPair, subject: String) {
    self.key = key
    self.subject = subject
    publicKey = Self.base64(key.publicKey)
  }

  /// The value of `Authorization` of a push; nil where the URL has no origin.
  ///
  /// - Parameter now: milliseconds since 1970.
  func authorization(for url: ByteString, now: Int64) -> String? {
    guard let origin = WebOrigin(of: url.string)?.description, let token = token(for: origin, at: now / 1_000) else {
      return nil
    }
    return "vapid t=\(token), k=\(publicKey)"
  }

  private func token(for origin: String, at now: Int64) -> String? {
    tokens.withLock { tokens in
      if let known = tokens[origin], known.expiry - now > Self.remainderSeconds, known.expiry - now <= Self.lifetimeSeconds {
        return known.text
      }
      let expiry = now + Self.lifetimeSeconds
      guard let text = sign(origin, until: expiry) else { return nil }
      if tokens.count >= Self.tokensLimit { tokens = [:] }
      tokens[origin] = Token(text: text, expiry: expiry)
      return text
    }
  }

  private func sign(_ origin: String, until expiry: Int64) -> String? {
    var header = JSONWriter()
    header.object { writer in
      writer.member("typ", "JWT")
      writer.member("alg", "ES256")
    }
    var claims = JSONWriter()
    claims.object { writer in
      writer.member("aud", origin)
      writer.member("exp", expiry)
      writer.member("sub", subject)
    }
    let signed = Self.base64(header.bytes) + "." + Self.base64(claims.bytes)
    return key.sign(Array(signed.utf8)).map { signed + "." + Self.base64($0) }
  }

  private static func base64(_ bytes: [UInt8]) -> String {
    String(decoding: UnpaddedBase64.encode(bytes, .urlSafe), as: UTF8.self)
  }
}
