public import ClientCore
import JSON
public import MatrixModel

/// What to tell a person of an event, by its ID, as a push brings it.
struct NotificationReader: Sendable {
  /// What is known; nothing that is learned here gets back to where it came from.
  var core: Client
  let store: any Store
  let askSource: @Sendable (Query<NotificationSource>) async throws(ClientError) -> NotificationSource
  let askSync: @Sendable (Query<JSON>) async throws(ClientError) -> JSON

  /// From the store, else from the server.
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
  /// What to tell a person of that event: from the store, else from the server. Leaves the client as it is.
  /// - Throws: what the server said, where it does not give the event.
  public func notification(for event: EventID, in room: RoomID) async throws(ClientError) -> NotificationOutcome {
    var reader = NotificationReader(
      core: core, store: store,
      askSource: { [self] (query) async throws(ClientError) in try await perform(query) },
      askSync: { [self] (query) async throws(ClientError) in try await perform(query) })
    return try await reader.outcome(of: event, in: room)
  }
}

extension StoreGuest {
  /// What to tell a person of that event, in a process that does not sync: from the store, else from the server. The access token
  /// is that of the owner, who alone refreshes it: where the server does not take it any more, the owner has to run.
  /// - Throws: `notSignedIn` where nobody is; what the server said.
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

/// Asks with a token that is another's to refresh.
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
