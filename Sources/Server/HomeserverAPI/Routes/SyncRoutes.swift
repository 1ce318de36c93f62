import HTTPServer
import JSON
import MatrixModel
import ServerAccounts
import ServerCore
import ServerRooms
import ServerSync

/// What is new.
extension Routes {
  mutating func addSyncRoutes() {
    let engine = homeserver.sync
    let (admission, clock) = (Admission(to: .sync), homeserver.configuration.clock)
    let (filters, sessions) = (homeserver.syncFilters, homeserver.sessions)
    let chargeInitialSync = initialSyncs

    on(.sync, budget: .free, endsOnShutdown: true) { request, session in
      let syncRequest = try await Self.syncRequest(request, session, filters)
      // What tells everything costs as much as a hundred messages.
      let answer = try await engine.sync(syncRequest) { try chargeInitialSync(session.userID, 1) }
      // A client whose token was revoked, or whose user was locked, while it waited must learn nothing more.
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
    let filter = try await filters.filter(query.text("filter"), of: session.userID)
    return SyncRequest(
      userID: session.userID, deviceID: session.deviceID, since: try since(query),
      timeoutMilliseconds: try query.integer("timeout") ?? 0, filter: filter,
      isFullState: try query.bool("full_state") ?? false, usesStateAfter: try query.bool("use_state_after") ?? false,
      presence: try presence(query.text("set_presence")))
  }

  private static func since(_ query: QueryParameters) throws -> SyncToken? {
    guard let text = query.text("since"), !text.isEmpty else { return nil }
    guard let token = SyncToken(text) else {
      throw MatrixError.invalidParameter("'since' is not a token of this server.")
    }
    return token
  }

  /// Who syncs is online where the client does not say otherwise.
  static func presence(_ text: ByteString?) throws -> PresenceState {
    guard let text else { return .online }
    guard let presence = PresenceState(text) else {
      throw MatrixError.invalidParameter("'set_presence' is offline, online or unavailable.")
    }
    return presence
  }
}
