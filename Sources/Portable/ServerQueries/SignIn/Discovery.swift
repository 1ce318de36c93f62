import JSON
import MatrixModel

/// From a server name, a user ID or a URL to the homeserver: says what to fetch, takes the answers, ends with a result.
///
///     var discovery = Discovery("@alice:example.org")
///     while case .fetch(let fetch) = discovery.step { discovery.take(status: …, body: …) }
///
/// Spec: Client-Server API, "Well-known URIs".
public struct Discovery: Sendable {
  public enum Step: Sendable {
    /// GET it, then `take`.
    case fetch(Fetch)
    /// The spec's `PROMPT`.
    case found(DiscoveredHomeserver)
    case failed(DiscoveryError)
  }

  /// What to get, without a token.
  public struct Fetch: Sendable {
    public let url: String
    /// Redirects are followed, as many as `Discovery.redirectLimit`.
    public let followsRedirects: Bool

    /// With the whole URL for a target: it may be any server's.
    public var request: HTTPRequest {
      HTTPRequest(
        method: .get, target: url, body: nil, contentType: nil, accessToken: nil,
        timeoutMilliseconds: Discovery.timeoutMilliseconds)
    }
  }

  public static let redirectLimit = 5
  /// Bytes of an answer that are looked at; more is as good as none.
  public static let bytesLimit = 1 << 18
  public static let timeoutMilliseconds: Int64 = 15_000

  private enum Phase: Sendable {
    case wellKnown(ServerName)
    case versions
    case identityServer
  }

  public private(set) var step: Step
  private var phase: Phase
  /// Whether the server name itself stands in for a file that is not there.
  private var isGuess = false
  private var homeserver: ServerURL?
  private var identityServer: ServerURL?
  private var wellKnown: JSON?
  private var versions: ServerVersions?

  /// - Parameter address: `example.org`, `@alice:example.org` or `https://matrix.example.org`.
  public init(_ address: ByteString) {
    phase = .versions
    step = .failed(.invalidAddress)
    if ServerURL.hasScheme(address) {
      guard let url = ServerURL(address) else { return }
      homeserver = url
      askVersions()
    } else if let name = UserID(address)?.serverName ?? ServerName(address) {
      phase = .wellKnown(name)
      step = .fetch(
        Fetch(url: "https://" + name.hostname + Endpoint.getWellknown.path(), followsRedirects: true))
    }
  }

  /// - Parameter status: of HTTP; nil where there was no answer.
  public mutating func take(status: Int?, body: [UInt8]) {
    guard case .fetch = step else { return }
    switch phase {
    case .wellKnown(let name): takeWellKnown(status, body, name)
    case .versions: takeVersions(status, body)
    case .identityServer:
      guard status == 200, Answer.parse(body)?.isObject == true else { return fail(.failError(.invalidIdentityServer)) }
      succeed()
    }
  }

  // MARK: Steps 3.1 to 3.6

  private mutating func takeWellKnown(_ status: Int?, _ body: [UInt8], _ name: ServerName) {
    if status == 404 {
      // Nothing is announced. Many servers are where their name says; ask there before giving up.
      guard let url = ServerURL("https://" + name.string) else { return fail(.ignore) }
      homeserver = url
      isGuess = true
      return askVersions()
    }
    guard let status else { return fail(.failPrompt(.noAnswer)) }
    guard status == 200, !body.isEmpty, body.count <= Self.bytesLimit else { return fail(.failPrompt(.status(status))) }
    guard let json = Answer.parse(body), json.isObject else { return fail(.failPrompt(.notJSON)) }
    wellKnown = json
    guard let base = json["m.homeserver"]?.text("base_url") else { return fail(.failPrompt(.noHomeserver)) }
    guard let url = ServerURL(base) else { return fail(.failError(.invalidHomeserver)) }
    homeserver = url
    askVersions()
  }

  private mutating func askVersions() {
    guard let homeserver else { return }
    phase = .versions
    step = .fetch(Fetch(url: homeserver.string + Endpoint.getVersions.path(), followsRedirects: false))
  }

  private mutating func takeVersions(_ status: Int?, _ body: [UInt8]) {
    guard status == 200, body.count <= Self.bytesLimit, let versions = Answer.parse(body).flatMap({ ServerVersions($0) })
    else {
      return fail(isGuess ? .ignore : status == nil ? .failError(.noAnswer) : .failError(.invalidHomeserver))
    }
    self.versions = versions
    guard let announced = wellKnown?["m.identity_server"] else { return succeed() }
    guard let base = announced.text("base_url") else { return fail(.failPrompt(.noIdentityServer)) }
    guard let url = ServerURL(base) else { return fail(.failError(.invalidIdentityServer)) }
    identityServer = url
    phase = .identityServer
    step = .fetch(Fetch(url: url.string + "/_matrix/identity/v2", followsRedirects: false))
  }

  private mutating func succeed() {
    guard let homeserver, let versions else { return }
    step = .found(
      DiscoveredHomeserver(
        url: homeserver, identityServer: identityServer, versions: versions, wellKnown: wellKnown))
  }

  private mutating func fail(_ error: DiscoveryError) { step = .failed(error) }
}

/// What discovery found.
public struct DiscoveredHomeserver: Sendable {
  public let url: ServerURL
  public let identityServer: ServerURL?
  public let versions: ServerVersions
  /// The whole of `/.well-known/matrix/client`, with what this client has no name for; nil where there was none.
  public let wellKnown: JSON?
}

/// Why there is no homeserver, by the actions of the spec.
public enum DiscoveryError: Error, Hashable, Sendable {
  public enum Problem: Hashable, Sendable {
    case noAnswer
    case status(Int)
    case notJSON
    case noHomeserver
    case noIdentityServer
    case invalidHomeserver
    case invalidIdentityServer
  }

  /// Neither a server name nor a user ID nor a URL.
  case invalidAddress
  /// `IGNORE`: the server announces nothing, and is no homeserver itself. Ask the person for the URL.
  case ignore
  /// `FAIL_PROMPT`: what the server announces cannot be used. Tell the person, and ask whether the URL is right.
  case failPrompt(Problem)
  /// `FAIL_ERROR`: what the server announces is wrong. There is nothing to go on with.
  case failError(Problem)
}

extension ServerName {
  /// Without the port. Spec: Appendices, "Server Name".
  var hostname: String {
    let bytes = Array(text.utf8)
    guard let colon = bytes.lastIndex(of: UInt8(ascii: ":")), bytes.last != UInt8(ascii: "]") else { return text.string }
    return String(decoding: bytes[..<colon], as: UTF8.self)
  }
}
