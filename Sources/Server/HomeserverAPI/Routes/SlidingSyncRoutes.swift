import HTTPServer
import JSON
import MatrixModel
import ServerAccounts
import ServerRooms
import ServerSync

/// Simplified sliding sync and its companion. Spec: MSC4186, MSC4360.
extension Routes {
  mutating func addSlidingSyncRoutes() {
    let (sliding, sessions) = (homeserver.slidingSync, homeserver.sessions)
    let chargeInitialSync = initialSyncs
    let (admission, clock) = (Admission(to: .sync), homeserver.configuration.clock)

    on(
      .slidingSync, budget: .free, alsoAt: ["/_matrix/client/unstable/org.matrix.msc4186/sync"], endsOnShutdown: true
    ) { request, session in
      let slidingRequest = try await Self.slidingRequest(request, session)
      let answer = try await sliding.sync(slidingRequest) { try chargeInitialSync(session.userID, $0) }
      // A client whose token was revoked, or whose user was locked, while it waited must learn nothing more.
      guard let current = try await sessions.current(session) else { throw MatrixError.unknownToken() }
      if current !== session { try admission.check(current, at: clock.now()) }
      return .json(answer)
    }

    on(.getThreadUpdates) { request, session in
      let query = try request.query()
      guard try query.required("dir") == "b" else { throw MatrixError.invalidParameter("'dir' is 'b'.") }
      let limit = try query.integer("limit", in: 1...Int64.max) ?? 100
      return .json(
        try await sliding.threadUpdates(
          for: session.userID, session.deviceID, from: try Self.token(query, "from"), to: try Self.token(query, "to"),
          limit: Int(clamping: limit)))
    }
  }

  // Not inlined: who parks must not hold a frame for this one.
  @inline(never)
  private nonisolated(nonsending) static func slidingRequest(
    _ request: APIRequest, _ session: Session
  ) async throws -> SlidingRequest {
    let query = try request.query()
    let body = try await request.optionalObject()
    return try SlidingRequest(
      body,
      SlidingRequest.Query(
        position: query.text("pos"), timeoutMilliseconds: try query.integer("timeout"), presence: query.text("set_presence")),
      of: session.userID, session.deviceID)
  }

  private static func token(_ query: QueryParameters, _ name: StaticString) throws -> TimelineToken? {
    guard let text = query.text(name), !text.isEmpty else { return nil }
    guard let token = TimelineToken(text) else {
      throw MatrixError.invalidParameter("'\(name)' is not a token of this server.")
    }
    return token
  }
}
