public import ClientCore
public import JSON
public import MatrixModel

/// A homeserver without an account.
///
///     for room in try await Homeserver("example.org").publicRooms().rooms { print(room.name ?? room.id.text) }
public actor Homeserver {
  private let address: String
  private let transport: any Transport
  private var found: DiscoveredHomeserver?
  private var client: MatrixClient?

  /// Creates a homeserver. Sends no request yet.
  /// - Parameter address: a URL, a server name or a user ID.
  public init(_ address: String, transport: any Transport = standardTransport()) {
    self.address = address
    self.transport = transport
  }

  deinit {
    if let client { Task { await client.stop() } }
  }

  /// Finds the server's URL and its versions. Sends the requests only once.
  /// - Throws: `noHomeserver` if no homeserver answers at the address.
  public func discover() async throws(ClientError) -> DiscoveredHomeserver {
    if let found { return found }
    do throws(DiscoveryError) {
      let found = try await Homeserver.discover(address, transport: transport)
      self.found = found
      return found
    } catch { throw .noHomeserver(error) }
  }

  /// Sends a query that needs no account.
  public func perform<Answer>(_ query: Query<Answer>) async throws(ClientError) -> Answer {
    if let client { return try await client.perform(query) }
    let url: String
    if let given = ServerURL(address) { url = given.string } else { url = try await discover().url.string }
    if client == nil {
      // Its store is its own.
      client = try? await MatrixClient(homeserver: url, transport: transport, encrypts: false)
    }
    guard let client else { throw .cancelled }
    return try await client.perform(query)
  }

  // MARK: Discovery

  /// Returns a URL unchanged, and for a name the URL that discovery finds.
  static func url(of address: String, transport: any Transport) async throws(ClientError) -> String {
    if let url = ServerURL(address) { return url.string }
    do throws(DiscoveryError) { return try await discover(address, transport: transport).url.string } catch {
      throw .noHomeserver(error)
    }
  }

  static func discover(_ address: String, transport: any Transport) async throws(DiscoveryError) -> DiscoveredHomeserver {
    var discovery = Discovery(ByteString(address))
    while true {
      switch discovery.step {
      case .found(let homeserver): return homeserver
      case .failed(let error): throw error
      case .fetch(let fetch):
        switch await transport.carry(Exchange(fetch)) {
        case .answer(let status, let body): discovery.take(status: status, body: body)
        case .networkError, .untrustedServer, .blobIsGone, .decrypted: discovery.take(status: nil, body: [])
        }
      }
    }
  }
}

extension Exchange {
  fileprivate init(_ fetch: Discovery.Fetch) {
    self.init(fetch.request, to: "")
    answerBytesLimit = Discovery.bytesLimit
    redirectLimit = fetch.followsRedirects ? Discovery.redirectLimit : 0
  }
}

/// Queries that need no account.
extension Homeserver {
  public func versions() async throws(ClientError) -> ServerVersions { try await perform(.versions()) }

  public func loginFlows() async throws(ClientError) -> LoginFlows { try await perform(.loginFlows()) }

  /// Returns a page of the public rooms. Some servers require an account for it.
  public func publicRooms(
    on server: ServerName? = nil, limit: Int? = nil, since: ByteString? = nil
  ) async throws(ClientError) -> RoomPage {
    try await perform(.publicRooms(on: server, limit: limit, since: since))
  }

  public func roomSummary(_ room: String, via servers: [ServerName] = []) async throws(ClientError) -> RoomSummary {
    try await perform(.roomSummary(ByteString(room), via: servers))
  }

  public func resolve(_ alias: RoomAlias) async throws(ClientError) -> ResolvedAlias {
    try await perform(.resolve(alias))
  }

  public func profile(of user: UserID) async throws(ClientError) -> Profile { try await perform(.profile(of: user)) }

  /// Returns whether a user name is available. Throws the server's reason if the name is not allowed.
  public func isUsernameAvailable(_ name: String) async throws(ClientError) -> Bool {
    try await perform(.isUsernameAvailable(ByteString(name)))
  }

  /// Returns the URL of the page on which the user signs in. Open it in a browser. Spec: "Single sign-on".
  /// - Parameter redirect: the URL to which the browser returns, with a token for `Login.token` (`SingleSignOn.loginToken(in:)`).
  public func singleSignOnURL(redirect: String, provider: ByteString? = nil) async throws(ClientError) -> String {
    SingleSignOn.url(try await discover().url, redirect: ByteString(redirect), provider: provider)
  }
}
