public import ClientCore
import JSON
public import MatrixModel

/// The content of notifications. A push brings only the ID of an event.
struct NotificationReader: Sendable {
  /// The known state. Nothing that is learned here changes the client.
  var core: Client
  let store: any Store
  let askSource: @Sendable (Query<NotificationSource>) async throws(ClientError) -> NotificationSource
  let askSync: @Sendable (Query<JSON>) async throws(ClientError) -> JSON

  /// Reads the event from the store, or else from the server.
  mutating func outcome(of event: EventID, in room: RoomID) async throws(ClientError) -> NotificationOutcome {
    if let invitation = core.invitation(to: room) { return invitation }
    let segments = (try? await store.load(Client.newestSegments(of: room))) ?? []
    if let stored = NotificationSource(event, in: segments) { return await outcome(of: stored, in: room, segments) }
    do throws(ClientError) {
      return await outcome(of: try await askSource(.notificationSource(event, in: room)), in: room, segments)
    } catch {
      // An invitation that no sync has brought yet: the room itself may not be looked at.
      guard case .refused(let status, _, _, _) = error, status == 403 || status == 404, core.room(room)?.membership != .join
      else { throw error }
      core.take(peeked: try await askSync(.peek(room)))
      guard let invitation = core.invitation(to: room) else { throw error }
      return invitation
    }
  }

  private func outcome(
    of source: NotificationSource, in room: RoomID, _ segments: [StoreRecord]
  ) async -> NotificationOutcome {
    var source = source
    for user in [source.sender, core.session?.userID] {
      guard let user else { continue }
      source.members += (try? await store.load(Client.storedMember(user, in: room))) ?? []
    }
    if let target = source.reactionTarget {
      source.target = NotificationSource(target, in: segments)?.event
      if source.target == nil { source.target = try? await askSource(.notificationSource(target, in: room)).event }
    }
    return core.notification(of: source, in: room)
  }
}

extension MatrixClient {
  /// Returns the content of a notification for an event. Reads the event from the store, or else from the server. Does not change the client.
  /// - Throws: the server's error if it refuses the event.
  public func notification(for event: EventID, in room: RoomID) async throws(ClientError) -> NotificationOutcome {
    var reader = NotificationReader(
      core: core, store: store,
      askSource: { [self] (query) async throws(ClientError) in try await perform(query) },
      askSync: { [self] (query) async throws(ClientError) in try await perform(query) })
    return try await reader.outcome(of: event, in: room)
  }
}

extension StoreGuest {
  /// Returns the content of a notification for an event, in a process that does not sync. Reads the event from the store, or else from the
  /// server. Only the process that syncs refreshes the access token. If the token has expired, that process must run first.
  /// - Throws: `notSignedIn` if the store has no session; the server's error.
  public func notification(
    for event: EventID, in room: RoomID, transport: any Transport = standardTransport()
  ) async throws(ClientError) -> NotificationOutcome {
    guard let session = core.session else { throw .notSignedIn }
    let guest = GuestTransport(transport: transport, session: session)
    var reader = NotificationReader(
      core: core, store: store,
      askSource: { (query) async throws(ClientError) in try await guest.ask(query) },
      askSync: { (query) async throws(ClientError) in try await guest.ask(query) })
    return try await reader.outcome(of: event, in: room)
  }
}

/// Sends requests with a token that only another process refreshes.
private struct GuestTransport: Sendable {
  let transport: any Transport
  let session: Session

  func ask<Answer>(_ query: Query<Answer>) async throws(ClientError) -> Answer {
    let request = HTTPRequest(
      method: query.request.endpoint.method, target: query.request.target, body: nil, contentType: nil,
      accessToken: session.accessToken, timeoutMilliseconds: 30_000)
    var exchange = Exchange(request, to: session.homeserver?.string ?? "")
    exchange.answerBytesLimit = 16 << 20
    let body = try MatrixClient.check(await transport.carry(exchange))
    guard let json = try? JSON.parse(body) else { throw .badAnswer }
    return try query.answer(.answer(json))
  }
}
