import HTTPServer
import Homeserver
import JSON
import MatrixModel

/// What is new.
extension Routes {
  mutating func addSyncRoutes() {
    let engine = homeserver.sync
    let filters = homeserver.syncFilters

    on(.sync, budget: .free) { request, session in
      .json(try await engine.sync(try await Self.syncRequest(request, session, filters)))
    }
  }

  // Not inlined: who parks must not hold a frame for this one.
  @inline(never)
  private nonisolated(nonsending) static func syncRequest(
    _ request: APIRequest, _ session: Session, _ filters: SyncFilters
  ) async throws -> SyncRequest {
    var sync = SyncRequest(userID: session.userID, deviceID: session.deviceID)
    let filter = try read(try request.query(), into: &sync)
    if let known = filters.cached(filter, of: session.userID) {
      sync.filter = known
    } else {
      sync.filter = try await filters.filter(filter, of: session.userID)
    }
    return sync
  }

  /// Everything of the query but the filter, which is returned as it stands there.
  private static func read(_ query: QueryParameters, into sync: inout SyncRequest) throws -> ByteString? {
    try checkPresence(query.text("set_presence"))
    sync.since = try since(query)
    sync.timeoutMilliseconds = min(try query.integer("timeout") ?? 0, SyncRequest.timeoutMillisecondsLimit)
    sync.isFullState = try query.bool("full_state") ?? false
    sync.usesStateAfter = try query.bool("use_state_after") ?? false
    return query.text("filter")
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
