import HTTPServer
import MatrixModel
import ServerAccounts
import ServerCore
import ServerPush

/// Finds the session that a request belongs to. Spec: Client-Server API, "Using access tokens".
struct Authentication: Sendable {
  let sessions: Sessions
  let appServices: AppServices
  let appServiceSessions: AppServiceSessions
  let clock: WallClock

  /// Throws `M_MISSING_TOKEN`, `M_UNKNOWN_TOKEN`, and what `Admission.check` throws.
  func session(of request: Request, _ admission: Admission) async throws -> Session {
    let session = try await session(of: request)
    try admission.check(session, at: clock.now())
    return session
  }

  /// nil where no token was given; throws where a wrong one was.
  func optionalSession(of request: Request, _ admission: Admission) async throws -> Session? {
    try token(of: request) == nil ? nil : try await session(of: request, admission)
  }

  /// Whether a request has the operator's token.
  func isOperator(_ request: Request, _ key: AccessTokenHash) throws -> Bool { try token(of: request) == key }

  /// A known token costs a hash and a look into memory.
  private func session(of request: Request) async throws -> Session {
    guard let token = try token(of: request) else { throw MatrixError.missingToken() }
    if let service = appServices.service(token) {
      let query = try QueryParameters(request.query)
      return try await appServiceSessions.session(
        of: service, as: try query.identifier("user_id"), on: try query.identifier("device_id"))
    }
    var session = sessions.cached(token)
    if session == nil { session = try await sessions.load(token) }
    guard let session else { throw MatrixError.unknownToken() }
    try session.requireFresh(at: clock.now())
    return session
  }

  /// The application service whose own token a request has. Throws `M_MISSING_TOKEN`, `M_UNKNOWN_TOKEN`.
  func appService(of request: Request) throws -> AppService {
    guard let token = try token(of: request) else { throw MatrixError.missingToken() }
    guard let service = appServices.service(token) else { throw MatrixError.unknownToken() }
    return service
  }

  /// Whether what the session does is held to the rate limits.
  func isRateLimited(_ session: Session) -> Bool {
    guard let id = session.appService, let service = appServices[id] else { return true }
    return service.isRateLimited(as: session.userID)
  }

  /// From `Authorization: Bearer`, else from the deprecated query parameter.
  private func token(of request: Request) throws -> AccessTokenHash? {
    if let header = request.headers.first("Authorization") {
      guard let bytes = Self.bearer(header), !bytes.isEmpty else { throw MatrixError.missingToken() }
      return AccessTokenHash(of: bytes)
    }
    return request.query["access_token"].map { AccessTokenHash(of: Array($0.utf8)[...]) }
  }

  /// What follows the scheme, whose name has no case. RFC 9110 §11.1.
  private static func bearer(_ header: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    var rest = header
    for expected in "bearer".utf8 {
      guard let byte = rest.popFirst(), byte | 0x20 == expected else { return nil }
    }
    guard rest.first == UInt8(ascii: " ") else { return nil }
    return rest.drop { $0 == UInt8(ascii: " ") }
  }
}
