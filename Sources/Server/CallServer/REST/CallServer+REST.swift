import Database
import HTTPServer
import Homeserver
import JSON
import MatrixModel

/// OpenTok's REST, for the server SDKs of applications whose API address is set to `/_martlet/call` of this server.
extension CallServer {
  package static let restPath = "/_martlet/call"

  package nonisolated func mountREST(on router: inout Router) {
    router.group(Self.restPath) { router in
      on(.post, "/session/create", &router) { request in try await self.createSession(request) }
      router.group("/v2/project/{project}/archive") { router in
        mountRecordings(on: &router)
        mountDownloads(on: &router)
      }
      router.group("/v2/project/{project}/session/{session}") { router in
        mountStreams(on: &router)
        mountSignals(on: &router)
        mountModeration(on: &router)
      }
    }
  }

  /// Adds a route for servers that prove their project with `X-OPENTOK-AUTH`. A project in the path must be that one.
  nonisolated func on(
    _ method: Method, _ path: String, _ router: inout Router,
    _ handler: @escaping @Sendable (RESTRequest) async throws -> Response
  ) {
    router.on(method, path, bodyLimit: CallLimits.restBodyBytes) { [self] request in
      do {
        try await homeserver.database.catchUp()
        let project = try await authorize(request)
        if let named = request.parameters["project"], named != project.string {
          throw RESTError(.forbidden, "The token is of another API key.")
        }
        return try await forwarding.around { try await handler(RESTRequest(http: $0, project: project)) }(request)
      } catch let error as RESTError {
        return error.response
      } catch let refusal as CallRefusal {
        return RESTError(refusal).response
      } catch let error as HTTPError {
        return RESTError(error.status, error.status.reason.description).response
      } catch let error as DatabaseError where error.isTransient {
        let wait = CallLimits.databaseRetryMilliseconds
        return RESTError(503, "The database cannot be reached.", retryAfterMilliseconds: wait).response
      }
    }
  }

  func authorize(_ request: Request) throws(RESTError) -> ProjectID {
    guard let text = request.headers["X-OPENTOK-AUTH"] else { throw RESTError(.forbidden, "X-OPENTOK-AUTH is missing.") }
    let authorization: ServerAuthorization
    do throws(ConnectionToken.Refusal) {
      authorization = try ServerAuthorization(verifying: ByteString(text), of: projects, now: clock.now())
    } catch {
      throw RESTError(.forbidden, error.sentence)
    }
    if configuration.rateLimits, let wait = restRates.take(authorization.project, at: now.monotonic) {
      throw RESTError(.tooManyRequests, "These are too many requests.", retryAfterMilliseconds: wait)
    }
    return authorization.project
  }

  /// The session in the path, which must be the project's. Throws 404, and `Elsewhere` if another node has it.
  nonisolated func session(of request: RESTRequest) async throws -> SessionID {
    let id: SessionID = try request.path("session")
    guard let session = try await sessions.session(id), session.project == request.project else {
      throw RESTError(.notFound, "There is no such session.")
    }
    try await requireHere(id, for: request)
    return id
  }

  /// Does something in a session; 404 where nobody is in it.
  func act<Value>(
    in id: SessionID, _ body: (inout SessionLogic, CallTime) throws(CallRefusal) -> Value
  ) throws(CallRefusal) -> Value {
    guard let result = try run(id, body) else { throw CallRefusal(.notFound, "Nobody is in the session.") }
    return result
  }
}
