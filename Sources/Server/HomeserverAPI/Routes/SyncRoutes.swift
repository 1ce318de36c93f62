import HTTPServer
import Homeserver
import JSON
import MatrixModel

/// What is new.
extension Routes {
  mutating func addSyncRoutes() {
    let engine = homeserver.sync
    let (admission, clock) = (Admission(to: .sync), homeserver.configuration.clock)
    let (filters, sessions) = (homeserver.syncFilters, homeserver.sessions)

    on(.sync, budget: .free, endsOnShutdown: true) { request, session in
      let answer = try await engine.sync(try await Self.syncRequest(request, session, filters))
      // Whoever waited with a token that was taken from them meanwhile, or was locked out, learns nothing more by it.
      guard let current = try await sessions.current(session) else { throw MatrixError.unknownToken() }
      if current !== session { try admission.check(current, at: clock.now()) }
      return .json(answer)
    }
  }

  // Not inlined: who parks must not hold a frame for this one.
  @inline(never)
  private nonisolated(nonsending) static func syncRequest(
    _ request: APIRequest, _ session: Session, _ filters: SyncFilters
  ) async throws -> SyncRequest {
    let query = try request.query()
    try checkPresence(query.text("set_presence"))
    let filter = try await filters.filter(query.text("filter"), of: session.userID)
    return SyncRequest(
      userID: session.userID, deviceID: session.deviceID, since: try since(query),
      timeoutMilliseconds: try query.integer("timeout") ?? 0, filter: filter,
      isFullState: try query.bool("full_state") ?? false, usesStateAfter: try query.bool("use_state_after") ?? false)
  }

  private static func since(_ query: QueryParameters) throws -> SyncToken? {
    guard let text = query.text("since"), !text.isEmpty else { return nil }
    guard let token = SyncToken(text) else {
      throw MatrixError.invalidParameter("'since' is not a token of this server.")
    }
    return token
  }

  /// Presence is not kept here; what the client says of it is checked all the same.
  private static func checkPresence(_ presence: ByteString?) throws {
    guard let presence else { return }
    guard ["offline", "online", "unavailable"].contains(presence) else {
      throw MatrixError.invalidParameter("'set_presence' is offline, online or unavailable.")
    }
  }
}
