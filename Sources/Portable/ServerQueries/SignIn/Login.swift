import JSON
import MatrixModel

/// What one logs in with. Spec: Client-Server API, "Login".
public enum Login: Sendable {
  case password(ByteString, user: UserIdentifier)
  /// From a single sign-on (`SingleSignOn`) or from another device (`Query.loginToken()`); good for one login.
  case token(ByteString)
  /// A JSON Web Token that the server's operator trusts (`org.matrix.login.jwt`).
  case jwt(ByteString)
  /// A type this client has no name for; `members` is a JSON object of what goes with it.
  case other(type: ByteString, members: [UInt8])

  package func write(to writer: inout JSONWriter) {
    switch self {
    case .password(let password, let user):
      writer.member("type", "m.login.password")
      user.write(to: &writer)
      writer.member("password", password)
    case .token(let token):
      writer.member("type", "m.login.token")
      writer.member("token", token)
    case .jwt(let token):
      writer.member("type", "org.matrix.login.jwt")
      writer.member("token", token)
    case .other(let type, let members):
      writer.member("type", type)
      writer.members(of: members)
    }
  }
}

/// Without what proves it: it may stand in a log.
extension Login: CustomStringConvertible {
  public var description: String {
    switch self {
    case .password: "password"
    case .token: "token"
    case .jwt: "jwt"
    case .other(let type, _): type.string
    }
  }
}

/// Signing in on a page of the server. Spec: Client-Server API, "Single sign-on".
///
/// The person opens `url` in a browser; the browser comes back to `redirect` with a token for `Login.token`.
public enum SingleSignOn {
  public enum Action: Sendable { case login, register }

  /// - Parameters:
  ///   - redirect: where the browser goes in the end; the program has to take it up there.
  ///   - provider: one of `LoginFlows.identityProviders`; nil lets the server ask.
  public static func url(
    _ homeserver: ServerURL, redirect: ByteString, provider: ByteString? = nil, action: Action = .login
  ) -> String {
    let path = provider.map { Endpoint.redirectToIdP.path($0) } ?? Endpoint.redirectToSSO.path()
    let query = URLQuery().adding("redirectUrl", redirect).adding("action", action == .login ? "login" : "register")
    return homeserver.string + path + query.text
  }

  /// The token in the URL that the browser came back to; nil if it has none.
  public static func loginToken(in url: ByteString) -> ByteString? {
    let query = url.utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst().prefix { $0 != UInt8(ascii: "#") }
    for pair in query.split(separator: UInt8(ascii: "&")) {
      let name = pair.prefix { $0 != UInt8(ascii: "=") }
      guard ByteString(decoding: name) == "loginToken" as StaticString else { continue }
      return PercentEncoding.decode(pair.dropFirst(name.count + 1))
    }
    return nil
  }
}

extension PercentEncoding {
  /// nil where a `%` does not stand before two hexadecimal digits.
  static func decode(_ text: some Collection<UInt8>) -> ByteString? {
    var bytes: [UInt8] = []
    var rest = text.makeIterator()
    while let byte = rest.next() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.next().flatMap(digit), let low = rest.next().flatMap(digit) else { return nil }
      bytes.append(high << 4 | low)
    }
    return ByteString(decoding: bytes)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
