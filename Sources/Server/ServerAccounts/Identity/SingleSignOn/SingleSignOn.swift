import CCrypto
import Database
import JSON
import MatrixModel
import Outbound
import ServerCore
import ServerMedia
import Telemetry

/// Logging in with an account at an OpenID provider.
///
/// A login begins in a browser, which gets a cookie; it comes back from the provider with a code for an ID token, to the
/// browser with that cookie only; the person behind the token becomes an account here; and the client that began is sent a login
/// token, after the person has agreed where it is not one that the operator trusts. What is between lives in memory for ten minutes.
///
/// Spec: Client-Server API, "SSO client login/authentication"; OpenID Connect Core 1.0 §3.1.
package final class SingleSignOn: Sendable {
  /// What a browser is told to do next.
  package struct Departure: Sendable {
    package let location: String
    /// The value of the cookie that the browser must come back with.
    package let cookie: String
  }

  package enum Arrival: Sendable {
    /// Back to the client, with its login token.
    case redirect(String)
    /// A client that is not trusted: whether to let it in is asked first, then `agree` is called.
    case question(id: String, user: UserID, client: WebOrigin)
    /// An interactive authentication has what it asked for.
    case confirmed
  }

  package static let callbackPath = "/_matrix/client/unstable/martlet.sso/callback"
  package static let agreementPath = "/_matrix/client/unstable/martlet.sso/agree"

  private let clients: [OpenIDClient]
  private let configuration: IdentityConfiguration
  private let accounts: Accounts
  private let people: SingleSignOnPeople
  private let pictures: ProviderPictures
  private let names: NodeNames
  private let departures: ExpiringStore<Pending>
  private let agreements: ExpiringStore<Agreement>

  private enum Goal: Sendable {
    case login(redirectURL: String)
    /// The session of an interactive authentication.
    case confirmation(session: ByteString)
  }

  private struct Pending: Sendable {
    let provider: String
    let goal: Goal
    let nonce: String
    let verifier: String
    let cookie: String
  }

  private struct Agreement: Sendable {
    let userID: UserID
    let redirectURL: String
    let cookie: String
  }

  package init(
    database: Database, accounts: Accounts, profiles: Profiles, media: MediaRepository, http: HTTPClient
  ) {
    let clock = accounts.configuration.clock
    configuration = accounts.configuration.identity
    people = SingleSignOnPeople(database: database, accounts: accounts)
    self.accounts = accounts
    let log = Log("sso")
    pictures = ProviderPictures(http: http, media: media, profiles: profiles, log: log)
    clients = configuration.providers.map { OpenIDClient($0, http: http, clock: clock, log: log) }
    names = NodeNames(database)
    departures = ExpiringStore(clock: clock)
    agreements = ExpiringStore(clock: clock)
  }

  /// In the order of the configuration; none without a public address to come back to.
  package var providers: [SingleSignOnProvider] {
    configuration.publicBaseURL == nil ? [] : clients.map(\.provider)
  }

  // MARK: Away

  /// Begins a login. Throws `M_NOT_FOUND` for a provider that is not known and `M_INVALID_PARAM` for a URL that nobody can be sent to.
  ///
  /// - Parameter network: who asks, see `SocketAddress.network`.
  package func begin(provider id: String, redirectURL: String, from network: UInt64) async throws -> Departure {
    try Self.check(redirectURL)
    return try await begin(id, .login(redirectURL: redirectURL), network)
  }

  /// Begins to confirm, by another sign-in, what a client is about to do. Throws `M_NOT_FOUND` for a session that is not known.
  package func begin(
    provider id: String, confirming session: ByteString, from network: UInt64
  ) async throws -> Departure {
    try checkSession(session)
    return try await begin(id, .confirmation(session: session), network)
  }

  /// Throws `M_NOT_FOUND` for a session of interactive authentication that is not known or has ended.
  package func checkSession(_ session: ByteString) throws {
    let ended = MatrixError.notFound("What you were about to confirm has ended. Go back to your app and try again.")
    try accounts.interactiveAuthentication.checkPlace(of: session, orElse: ended)
    guard accounts.interactiveAuthentication.owner(of: session) != nil else { throw ended }
  }

  private func begin(_ id: String, _ goal: Goal, _ network: UInt64) async throws -> Departure {
    guard let base = configuration.publicBaseURL, let client = clients.first(where: { $0.provider.id == id }) else {
      throw MatrixError.notFound("This server does not know this way to sign in. Go back to your app and choose another.")
    }
    let pending = Pending(
      provider: id, goal: goal, nonce: RandomText.urlSafe(bytes: 32),
      verifier: RandomText.urlSafe(bytes: 32), cookie: RandomText.urlSafe(bytes: 32))
    let state = names.marked(RandomText.urlSafe(bytes: 32))
    let location = try await client.authorizationURL(
      state: state, nonce: pending.nonce, verifier: pending.verifier, redirectURI: base + Self.callbackPath)
    departures.put(pending, at: state, from: network)
    return Departure(location: location, cookie: pending.cookie)
  }

  /// Throws `M_INVALID_PARAM` for a URL that nobody can be sent to.
  package static func check(_ redirectURL: String) throws(MatrixError) {
    guard WebOrigin(of: redirectURL) != nil else {
      throw .invalidParameter("The app that sent you here gave no address to come back to ('redirectUrl').")
    }
  }

  // MARK: Back

  /// What the provider has sent the browser back with. Throws `M_FORBIDDEN` for a login that this browser has not begun, or that
  /// took too long, and for people who get no account here; 502 where the provider fails.
  package func finish(
    state: String, code: String?, error: String?, issuer: String?, cookie: String?, from network: UInt64
  ) async throws -> Arrival {
    let ended = MatrixError.forbidden("This sign-in has ended or began elsewhere. Go back to your app and try again.")
    try names.check(state, orElse: ended)
    guard let pending = departures.take(state), Self.equal(pending.cookie, cookie),
      let client = clients.first(where: { $0.provider.id == pending.provider }), let base = configuration.publicBaseURL
    else {
      throw ended
    }
    // RFC 9207 §2.4: an answer of another provider.
    guard issuer == nil || issuer == client.provider.issuer, error == nil, let code else {
      throw MatrixError.forbidden("\(client.provider.name) did not let you in. Go back to your app and try again.")
    }
    let person = try await client.person(
      code: code, nonce: pending.nonce, verifier: pending.verifier, redirectURI: base + Self.callbackPath)
    switch pending.goal {
    case .confirmation(let session):
      let userID = try await people.known(person, at: client.provider)
      guard let userID, accounts.interactiveAuthentication.complete(.singleSignOn, in: session, by: userID) else {
        throw MatrixError.forbidden("That was another account. Go back to your app and try again.")
      }
      return .confirmed
    case .login(let redirectURL):
      let (userID, isNew) = try await people.account(of: person, at: client.provider)
      if isNew, let picture = person.picture { await pictures.give(picture.string, to: userID) }
      return try await arrival(of: userID, at: redirectURL, pending.cookie, network)
    }
  }

  private func arrival(
    of userID: UserID, at redirectURL: String, _ cookie: String, _ network: UInt64
  ) async throws -> Arrival {
    if configuration.trusts(redirectURL) { return .redirect(try await destination(redirectURL, for: userID)) }
    guard let origin = WebOrigin(of: redirectURL) else { throw MatrixError.invalidParameter("'redirectUrl'") }
    let id = names.marked(RandomText.urlSafe(bytes: 32))
    agreements.put(Agreement(userID: userID, redirectURL: redirectURL, cookie: cookie), at: id, from: network)
    return .question(id: id, user: userID, client: origin)
  }

  /// Lets the client of a `question` in. Throws `M_FORBIDDEN` for a question that was not asked in this browser or too long ago.
  package func agree(_ id: String, cookie: String?) async throws -> String {
    let ended = MatrixError.forbidden("This sign-in has ended. Go back to your app and try again.")
    try names.check(id, orElse: ended)
    guard let agreement = agreements.take(id), Self.equal(agreement.cookie, cookie) else { throw ended }
    return try await destination(agreement.redirectURL, for: agreement.userID)
  }

  private func destination(_ redirectURL: String, for userID: UserID) async throws -> String {
    RedirectURL.adding(loginToken: try await accounts.loginTokens.issue(for: userID).text.string, to: redirectURL)
  }

  private static func equal(_ expected: String, _ given: String?) -> Bool {
    let (a, b) = (Array(expected.utf8), Array((given ?? "").utf8))
    return a.count == b.count && CRYPTO_memcmp(a, b, a.count) == 0
  }
}

/// The client's `redirectUrl` with its login token. Spec: "Handling the callback from the Authentication server", 4.
enum RedirectURL {
  /// Adds the parameter behind the others of the query, of which those of its name are removed.
  static func adding(loginToken: String, to url: String) -> String {
    let fragment = url.firstIndex(of: "#").map { url[$0...] } ?? ""
    let whole = url.dropLast(fragment.count)
    let start = whole.firstIndex(of: "?") ?? whole.endIndex
    var parameters = whole[start...].dropFirst().split(separator: "&").filter {
      $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).first != "loginToken"
    }.map(String.init)
    parameters.append("loginToken=" + PercentEncoding.encode(ByteString(loginToken)))
    return whole[..<start] + "?" + parameters.joined(separator: "&") + fragment
  }
}
