import Database
import HTTPServer
import Homeserver
import MatrixModel
import ServerAccounts
import ServerCore
import Telemetry

/// Turns `Endpoint` descriptions into routes: authentication, rate limits and errors are the same for all of them.
///
///     routes.on(.getTokenOwner) { request, session in
///       .json { $0.object { $0.member("user_id", session.userID) } }
///     }
package struct Routes {
  package let homeserver: Homeserver
  package private(set) var router: Router
  private let authentication: Authentication
  private let limiter: RateLimiter?
  private let operatorKey: AccessTokenHash?
  private let disk: DiskSpace
  private let forwarding: Forwarding
  /// What was acknowledged at another node counts here, before anything of the request is looked at. An endpoint that waits for news is served
  /// from memory while the database is away. nil where there are no other nodes.
  private let catchUp: (@Sendable (_ waitsForNews: Bool) async throws -> Void)?

  init(_ homeserver: Homeserver, _ configuration: APIConfiguration) {
    self.homeserver = homeserver
    authentication = Authentication(
      sessions: homeserver.sessions, appServices: homeserver.appServices,
      appServiceSessions: homeserver.appServiceSessions, clock: homeserver.configuration.clock)
    limiter = configuration.rateLimits ? RateLimiter() : nil
    operatorKey = configuration.operatorKey.map { AccessTokenHash(of: $0.text) }
    disk = configuration.disk
    catchUp = Self.catchUp(homeserver.database)
    forwarding = Forwarding(homeserver.database, homeserver.http)
    let errors = ErrorAnswers(
      log: homeserver.log, refusals: RefusalLog(homeserver.log), disk: disk, adminContact: configuration.support.adminURI)
    router = Router(errorResponse: errors.response)
    // No route is for OPTIONS: a preflight ends here, and no endpoint's logic runs.
    router.notFound = { request in
      guard request.method == .options else { throw MatrixError.unrecognized(status: 404) }
      return Response()
    }
    router.methodNotAllowed = { request, _ in
      guard request.method == .options else { throw MatrixError.unrecognized(status: 405) }
      return Response()
    }
    router.completion = CORS.completion
  }

  /// Bytes of a JSON body where the endpoint does not say otherwise: an event may have 65,536, keys in bulk need more.
  package static let bodyBytesLimit = 1 << 20
  /// The same for requests without an access token, which carry names and a password: strangers get little memory.
  package static let anonymousBodyBytesLimit = 64 << 10

  /// Adds an endpoint that needs an access token. Guests, the suspended, the locked and who is no administrator are held to
  /// what the endpoint says of them.
  ///
  /// - Parameters:
  ///   - budget: which allowance of the rate limiter a request is charged to; nil takes it from the method.
  ///   - paths: further paths that mean the same.
  ///   - endsOnShutdown: whether it may wait for long, so that a server that stops cancels it at once.
  package mutating func on(
    _ endpoint: Endpoint, budget: RateLimiter.Budget? = nil, bodyLimit: Int = Routes.bodyBytesLimit,
    alsoAt paths: [String] = [], endsOnShutdown: Bool = false,
    _ handler: @escaping @Sendable (APIRequest, Session) async throws -> Response
  ) {
    precondition(endpoint.access != .anyone, "an endpoint for anyone has no session")
    let (authentication, limiter, admission) = (authentication, limiter, Admission(to: endpoint))
    let budget = budget ?? RateLimiter.Budget(of: endpoint)
    add(endpoint, paths, bodyLimit, endsOnShutdown: endsOnShutdown) { [catchUp] request in
      try await catchUp?(endsOnShutdown)
      let session = try await authentication.session(of: request, admission)
      try await authentication.sessions.saw(session, from: request.peer.address)
      if authentication.isRateLimited(session) { try limiter?.charge(budget, to: session.userID) }
      return try await handler(APIRequest(request, bodyLimit: bodyLimit), session)
    }
  }

  private static func catchUp(_ database: Database) -> (@Sendable (Bool) async throws -> Void)? {
    guard database.isNode else { return nil }
    return { waitsForNews in
      do throws(DatabaseError) { try await database.catchUp(isPatient: !waitsForNews) } catch {
        guard waitsForNews, error.isTransient else { throw error }
      }
    }
  }

  /// Charges a guess at a user's password to that user, not to the guesser.
  var loginGuesses: @Sendable (UserID) throws -> Void {
    { [limiter] userID in try limiter?.charge(.authentication, to: userID) }
  }

  /// Charges an answer that tells all there is, or one that costs the `share` of such a one.
  var initialSyncs: @Sendable (UserID, _ share: Double) throws -> Void {
    { [limiter] userID, share in try limiter?.charge(.initialSync, share: share, to: userID) }
  }

  /// Adds an endpoint that anyone may call. `APIRequest.session` looks for a token all the same.
  package mutating func on(
    _ endpoint: Endpoint, budget: RateLimiter.Budget? = nil, bodyLimit: Int = Routes.anonymousBodyBytesLimit,
    alsoAt paths: [String] = [], endsOnShutdown: Bool = false,
    _ handler: @escaping @Sendable (APIRequest) async throws -> Response
  ) {
    precondition(endpoint.access == .anyone, "the handler of an endpoint for accounts takes a session")
    let (authentication, limiter, admission) = (authentication, limiter, Admission(to: endpoint))
    let budget = budget ?? RateLimiter.Budget(of: endpoint)
    add(endpoint, paths, bodyLimit, endsOnShutdown: endsOnShutdown) { [catchUp] request in
      try limiter?.charge(budget, to: request.peer)
      try await catchUp?(endsOnShutdown)
      return try await handler(
        APIRequest(request, bodyLimit: bodyLimit, authentication: authentication, admission: admission))
    }
  }

  /// Adds a path that the specification does not have, for anyone.
  package mutating func on(
    _ method: Method, _ path: String, budget: RateLimiter.Budget, bodyLimit: Int = Routes.anonymousBodyBytesLimit,
    _ handler: @escaping @Sendable (APIRequest) async throws -> Response
  ) {
    let answer: Handler = { [limiter, catchUp] request in
      try limiter?.charge(budget, to: request.peer)
      try await catchUp?(false)
      return try await handler(APIRequest(request, bodyLimit: bodyLimit))
    }
    router.on(method, path, bodyLimit: bodyLimit, forwarding.around(answer))
  }

  /// Adds a path that the specification does not have, for administrators of the server and for its operator.
  package mutating func onAdmin(
    _ method: Method, _ path: String, bodyLimit: Int = Routes.bodyBytesLimit,
    _ handler: @escaping @Sendable (APIRequest, Administrator) async throws -> Response
  ) {
    let (authentication, limiter, operatorKey) = (authentication, limiter, operatorKey)
    let server = homeserver.configuration.serverName
    let budget: RateLimiter.Budget = method == .get ? .read : .write
    router.on(method, path, bodyLimit: bodyLimit) { [catchUp] request in
      try await catchUp?(false)
      if let operatorKey, try authentication.isOperator(request, operatorKey) {
        return try await handler(APIRequest(request, bodyLimit: bodyLimit), .operator(server))
      }
      let session = try await authentication.session(of: request, .administrators)
      try limiter?.charge(budget, to: session.userID)
      return try await handler(APIRequest(request, bodyLimit: bodyLimit), .user(session.userID))
    }
  }

  /// Returns a handler that throws `DiskFullError` before it does anything, while the disk is full or too small for the body.
  private func withSpace(_ handler: @escaping Handler) -> Handler {
    { [disk] request in
      try disk.requireSpace(for: request.body.announcedLength ?? 0)
      return try await handler(request)
    }
  }

  private mutating func add(
    _ endpoint: Endpoint, _ paths: [String], _ bodyLimit: Int, endsOnShutdown: Bool = false, _ handler: @escaping Handler
  ) {
    let method: Method =
      switch endpoint.method {
      case .get: .get
      case .put: .put
      case .post: .post
      case .delete: .delete
      }
    let handler = forwarding.around(endpoint.storesMore ? withSpace(handler) : handler)
    for path in [endpoint.pattern.description] + paths {
      router.on(method, path, bodyLimit: bodyLimit, endsOnShutdown: endsOnShutdown, handler)
      guard let legacy = LegacyPaths.path(path, of: endpoint) else { continue }
      router.on(method, legacy, bodyLimit: bodyLimit, endsOnShutdown: endsOnShutdown, handler)
    }
  }
}
