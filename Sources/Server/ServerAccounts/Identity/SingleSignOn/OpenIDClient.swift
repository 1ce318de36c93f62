import JSON
import MatrixModel
import Outbound
import RoomRules
import ServerCore
import Synchronization
import Telemetry

/// Talks with one OpenID provider: what it offers, its keys, codes for tokens.
///
/// Source: OpenID Connect Discovery 1.0, Core 1.0 §3.1; RFC 6749, RFC 7636 (PKCE).
final class OpenIDClient: Sendable {
  /// What the discovery document says.
  struct Metadata: Sendable {
    let authorizationEndpoint: String
    let tokenEndpoint: String
    let keysURL: String
    let userInfoEndpoint: String?
    let takesSecretInHeader: Bool
  }

  /// Who the provider says has logged in.
  struct Person: Sendable {
    let subject: ByteString
    let localpart: ByteString?
    let displayName: ByteString?
    /// An `https://` URL.
    let picture: ByteString?
    /// Only one that the provider has verified.
    let email: MailAddress?
  }

  private struct Cache {
    var metadata: (value: Metadata, at: Int64)?
    var keys: (value: [JSONWebKey], at: Int64)?
  }

  let provider: SingleSignOnProvider
  private let http: HTTPClient
  private let clock: WallClock
  private let log: Log
  private let cache = Mutex(Cache())

  private static let metadataMilliseconds: Int64 = 60 * 60_000
  /// How soon keys are asked for again because of a token by a key that is not known.
  private static let keysMilliseconds: Int64 = 60_000
  private static let answerBytesLimit = 256 << 10
  private static let timeout = Duration.seconds(10)
  private static let subjectBytesLimit = 255

  init(_ provider: SingleSignOnProvider, http: HTTPClient, clock: WallClock, log: Log) {
    self.provider = provider
    self.http = http
    self.clock = clock
    self.log = log
  }

  // MARK: Discovery

  func metadata() async throws -> Metadata {
    if let known = cache.withLock({ $0.metadata }), clock.now() - known.at < Self.metadataMilliseconds { return known.value }
    let base = provider.issuer.hasSuffix("/") ? String(provider.issuer.dropLast()) : provider.issuer
    let document = try await get(base + "/.well-known/openid-configuration")
    guard document["issuer"]?.string == provider.issuer, let authorization = url(document["authorization_endpoint"]),
      let token = url(document["token_endpoint"]), let keys = url(document["jwks_uri"])
    else { throw failure("its discovery document is not what it should be") }
    // Without the member it is `client_secret_basic`. Discovery §3.
    let methods = document["token_endpoint_auth_methods_supported"]
    let takesHeader = methods?.isArray != true || methods!.elements.contains { $0.string == "client_secret_basic" }
    let metadata = Metadata(
      authorizationEndpoint: authorization, tokenEndpoint: token, keysURL: keys,
      userInfoEndpoint: url(document["userinfo_endpoint"]), takesSecretInHeader: takesHeader)
    cache.withLock { $0.metadata = (metadata, clock.now()) }
    return metadata
  }

  /// An endpoint is as secret as the issuer's own URL is.
  private func url(_ value: JSON?) -> String? {
    guard let text = value?.string, let origin = WebOrigin(of: text)?.description else { return nil }
    return origin.hasPrefix("https:") || (origin.hasPrefix("http:") && provider.issuer.hasPrefix("http:")) ? text : nil
  }

  private func keys(fresh: Bool) async throws -> [JSONWebKey] {
    if let known = cache.withLock({ $0.keys }) {
      let age = clock.now() - known.at
      if age < (fresh ? Self.keysMilliseconds : Self.metadataMilliseconds) { return known.value }
    }
    let document = try await get(try await metadata().keysURL)
    guard let list = document["keys"], list.isArray else { throw failure("its keys are not a JWK set") }
    var keys: [JSONWebKey] = []
    for jwk in list.elements where jwk.isObject {
      keys += [JSONWebKey.Algorithm.rs256, .es256, .edDSA].compactMap { JSONWebKey(jwk: jwk, $0) }
    }
    cache.withLock { [keys] in $0.keys = (keys, clock.now()) }
    return keys
  }

  // MARK: Codes for people

  /// Where the person's browser goes.
  func authorizationURL(state: String, nonce: String, verifier: String, redirectURI: String) async throws -> String {
    let endpoint = try await metadata().authorizationEndpoint
    let digest = SHA256.digest(of: Array(verifier.utf8))
    let parameters = [
      ("response_type", "code"), ("client_id", provider.clientID), ("redirect_uri", redirectURI),
      ("scope", provider.scopes.joined(separator: " ")), ("state", state), ("nonce", nonce),
      ("code_challenge", String(decoding: UnpaddedBase64.encode(digest, .urlSafe), as: UTF8.self)),
      ("code_challenge_method", "S256")
    ]
    return endpoint + (endpoint.contains("?") ? "&" : "?") + Self.form(parameters)
  }

  /// Redeems a code and verifies the ID token that comes for it.
  func person(code: String, nonce: String, verifier: String, redirectURI: String) async throws -> Person {
    let metadata = try await metadata()
    let answer = try await redeem(code, verifier, redirectURI, metadata)
    guard let idToken = answer["id_token"]?.text else { throw failure("it gave no ID token") }
    let claims = try await verified(idToken, nonce: nonce)
    guard let subject = claims["sub"]?.text, (1...Self.subjectBytesLimit).contains(subject.count) else {
      throw failure("its ID token names nobody")
    }
    var more: JSON?
    if claims[Self.key(provider.localpartClaim)] == nil, let endpoint = metadata.userInfoEndpoint,
      let accessToken = answer["access_token"]?.string
    {
      more = try await get(endpoint, headers: [("Authorization", "Bearer " + accessToken)])
      // Core §5.3.2: otherwise it may be another person's.
      guard more?["sub"]?.text == subject else { throw failure("its user info is of another person") }
    }
    return person(subject, claims, more)
  }

  private func redeem(_ code: String, _ verifier: String, _ redirectURI: String, _ metadata: Metadata) async throws -> JSON {
    var form = [
      ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirectURI), ("code_verifier", verifier)
    ]
    var headers = [(name: "Content-Type", value: "application/x-www-form-urlencoded"), ("Accept", "application/json")]
    switch provider.clientSecret {
    case .some(let secret) where metadata.takesSecretInHeader:
      // RFC 6749 §2.3.1: both are form-encoded first.
      let pair = Self.encode(provider.clientID) + ":" + Self.encode(secret.reveal())
      headers.append(("Authorization", "Basic " + Self.base64(pair)))
    case .some(let secret): form += [("client_id", provider.clientID), ("client_secret", secret.reveal())]
    case nil: form.append(("client_id", provider.clientID))
    }
    return try await send(
      OutgoingRequest(
        "POST", url: metadata.tokenEndpoint, headers: headers, body: Array(Self.form(form).utf8), timeout: Self.timeout,
        responseBytesLimit: Self.answerBytesLimit, destinations: .any))
  }

  private func verified(_ token: ByteString, nonce: String) async throws -> JSON {
    var expectation = JSONWebToken.Expectation()
    expectation.issuer = ByteString(provider.issuer)
    expectation.audiences = [ByteString(provider.clientID)]
    let claims: JSON
    do {
      claims = try JSONWebToken(
        verifying: token, with: try await keys(fresh: false), expectation, now: clock.now()
      ).claims
    } catch JSONWebToken.Refusal.unknownKey, JSONWebToken.Refusal.wrongAlgorithm {
      // The provider may have changed its keys since.
      do {
        claims = try JSONWebToken(
          verifying: token, with: try await keys(fresh: true), expectation, now: clock.now()
        ).claims
      } catch let refusal as JSONWebToken.Refusal { throw failure("its ID token is refused: \(refusal)") }
    } catch let refusal as JSONWebToken.Refusal {
      throw failure("its ID token is refused: \(refusal)")
    }
    guard claims["nonce"]?.string == nonce else { throw failure("its ID token is for another login") }
    // Core §3.1.3.7: with several audiences the token must be ours in particular.
    let isForSeveral = (claims["aud"]?.isArray == true) && claims["aud"]!.elements.reduce(0) { count, _ in count + 1 } > 1
    let party = claims["azp"]?.string
    guard party == provider.clientID || (party == nil && !isForSeveral) else {
      throw failure("its ID token is for another client")
    }
    return claims
  }

  private func person(_ subject: ByteString, _ claims: JSON, _ more: JSON?) -> Person {
    func claim(_ name: String) -> JSON? { claims[Self.key(name)] ?? more?[Self.key(name)] }
    let isVerified = claim("email_verified")?.bool == true || claim("email_verified")?.string == "true"
    return Person(
      subject: subject, localpart: claim(provider.localpartClaim)?.text,
      displayName: claim(provider.displayNameClaim)?.text, picture: claim("picture")?.text,
      email: isVerified ? claim("email")?.string.flatMap { MailAddress($0) } : nil)
  }

  // MARK: The wire

  private func get(_ url: String, headers: [(name: String, value: String)] = []) async throws -> JSON {
    try await send(
      OutgoingRequest(
        url: url, headers: headers + [("Accept", "application/json")], timeout: Self.timeout,
        responseBytesLimit: Self.answerBytesLimit, destinations: .any))
  }

  private func send(_ request: OutgoingRequest) async throws -> JSON {
    let answer: IncomingResponse
    do { answer = try await http.send(request) } catch {
      throw failure("it cannot be asked: \(error)")
    }
    guard answer.status == 200, !answer.isTruncated else { throw failure("it answered with status \(answer.status)") }
    guard let json = try? JSON.parse(answer.body), json.isObject else { throw failure("its answer is no JSON object") }
    return json
  }

  /// What the person sees is less than what the log says.
  private func failure(_ reason: String) -> MatrixError {
    log.warning(
      "single sign-on failed because of its provider", ["provider": .text(provider.id), "reason": .text(reason)])
    return MatrixError(
      status: 502, .unknown, "\(provider.name) could not confirm who you are. Go back to your app and try again.")
  }

  static func form(_ parameters: [(String, String)]) -> String {
    parameters.map { $0.0 + "=" + encode($0.1) }.joined(separator: "&")
  }

  private static func encode(_ text: String) -> String { PercentEncoding.encode(ByteString(text)) }

  private static func base64(_ text: String) -> String {
    let unpadded = String(decoding: UnpaddedBase64.encode(Array(text.utf8)), as: UTF8.self)
    return unpadded + String(repeating: "=", count: (4 - unpadded.utf8.count % 4) % 4)
  }

  private static func key(_ name: String) -> ByteString { ByteString(name) }
}
