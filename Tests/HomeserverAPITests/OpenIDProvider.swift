import OutboundTesting
import RoomRules
import Synchronization

@testable import ServerAccounts

/// A provider that gives one code for one person, whatever the person is asked: the wire of OpenID Connect, made by hand so that
/// a test can bend each part of it.
final class OpenIDProvider: Sendable {
  struct Behaviour: Sendable {
    /// Members of the ID token besides `iss`, `aud`, `exp`, `iat` and `nonce`.
    var claims = #""sub":"person-1","preferred_username":"alice""#
    /// Whole claims in their place; nil makes the right ones.
    var allClaims: String?
    var issuer: String?
    /// What `userinfo_endpoint` answers; nil offers none.
    var userInfo: String?
    var tokenStatus = "200 OK"
    var picture: [UInt8] = []
  }

  let signer: TokenSigner
  private let server: LoopbackServer
  private let state = Mutex((behaviour: Behaviour(), nonce: "", challenge: "", signer: TokenSigner?.none))

  init(_ algorithm: JSONWebKey.Algorithm = .es256) {
    signer = TokenSigner(algorithm)
    let box = Box()
    server = LoopbackServer { server, connection in
      let head = connection.read(until: "\r\n\r\n")
      let parts = head.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
      var body = parts.count == 2 ? String(parts[1]) : ""
      let length = head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
      let count = length.flatMap { Int($0.dropFirst(15).drop { $0 == " " }) } ?? 0
      while body.utf8.count < count { body += String(decoding: connection.read(), as: UTF8.self) }
      server.note(head.prefix { $0 != "\r\n" } + "\n" + body)
      if let provider = box.provider.withLock({ $0 }) { connection.write(provider.answer(head, body)) }
    }
    box.provider.withLock { $0 = self }
  }

  /// Ties the server's closure to who is made after it.
  private final class Box: Sendable { let provider = Mutex<OpenIDProvider?>(nil) }

  var issuer: String { server.url("") }
  var requests: [String] { server.notes }
  func close() { server.close() }

  func behave(_ change: (inout Behaviour) -> Void) { state.withLock { change(&$0.behaviour) } }

  /// Signs with another key from now on, which its key set has too if it is `published`.
  func changeKey(to signer: TokenSigner) { state.withLock { $0.signer = signer } }

  /// What the person's browser brings to the provider: notes it, and returns the `state`.
  func visit(_ location: String) -> [String: String] {
    var parameters: [String: String] = [:]
    for pair in location.split(separator: "?", maxSplits: 1).last?.split(separator: "&") ?? [] {
      let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
      if parts.count == 2 { parameters[parts[0]] = Self.decode(parts[1]) }
    }
    state.withLock {
      $0.nonce = parameters["nonce"] ?? ""
      $0.challenge = parameters["code_challenge"] ?? ""
    }
    return parameters
  }

  private func answer(_ head: String, _ body: String) -> [UInt8] {
    let path = head.split(separator: " ").dropFirst().first.map(String.init) ?? ""
    let (behaviour, nonce, challenge, other) = state.withLock { $0 }
    let signer = other ?? self.signer
    switch path {
    case "/.well-known/openid-configuration":
      let userInfo = behaviour.userInfo == nil ? "" : #","userinfo_endpoint":"\#(issuer)/me""#
      return Self.json(
        #"{"issuer":"\#(behaviour.issuer ?? issuer)","authorization_endpoint":"\#(issuer)/authorize","#
          + #""token_endpoint":"\#(issuer)/token","jwks_uri":"\#(issuer)/keys"\#(userInfo)}"#)
    case "/keys":
      return Self.json(#"{"keys":[{"kty":"oct","k":"AAAA"},\#(signer.jwk())]}"#)
    case "/token":
      let verifier = body.split(separator: "&").first { $0.hasPrefix("code_verifier=") }?.dropFirst(14) ?? ""
      let digest = TokenSigner.encode(SHA256.digest(of: Array(verifier.utf8)))
      guard body.contains("code=the-code&"), digest == challenge else { return Self.json("{}", "400 Bad Request") }
      let claims =
        behaviour.allClaims?.replacing("NONCE", with: nonce).replacing("ISSUER", with: issuer)
        ?? #"{"iss":"\#(issuer)","aud":"martlet","exp":1700000300,"iat":1700000000,"nonce":"\#(nonce)",\#(behaviour.claims)}"#
      return Self.json(
        #"{"access_token":"at","token_type":"Bearer","id_token":"\#(signer.token(claims))"}"#, behaviour.tokenStatus)
    case "/me": return Self.json(behaviour.userInfo ?? "{}")
    case "/picture.png":
      return Array("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: \(behaviour.picture.count)\r\n\r\n".utf8)
        + behaviour.picture
    default: return Self.json("{}", "404 Not Found")
    }
  }

  private static func json(_ text: String, _ status: String = "200 OK") -> [UInt8] {
    Array(
      "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\nContent-Length: \(text.utf8.count)\r\nConnection: close\r\n\r\n\(text)"
        .utf8)
  }

  private static func decode(_ text: String) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
