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
    let stored = NotificationSource(event, in: segments)
    if let stored, !stored.isEncrypted { return await outcome(of: stored, in: room, segments) }
    do throws(ClientError) {
      return await outcome(of: try await askSource(.notificationSource(event, in: room)), in: room, segments)
    } catch {
      if let stored { return await outcome(of: stored, in: room, segments) }
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
  /// server. A message of an encrypted room is decrypted with the keys of the store or, if its key is not there yet, with that of the backup; the server
  /// has 5 seconds for it. Only the process that syncs refreshes the access token. If the token has expired, that process must run first.
  /// - Throws: `notSignedIn` if the store has no session; the server's error.
  public func notification(
    for event: EventID, in room: RoomID, transport: any Transport = standardTransport()
  ) async throws(ClientError) -> NotificationOutcome {
    guard let session = core.session else { throw .notSignedIn }
    let guest = GuestTransport(transport: transport, session: session)
    let store = store
    var reader = NotificationReader(
      core: core, store: store,
      askSource: { (query) async throws(ClientError) in
        try await guest.ask(query) { body, target in
          var machine = await GuestMachine(session, store: store, transport: guest)
          return await machine.clear(body, to: target)
        }
      },
      askSync: { (query) async throws(ClientError) in try await guest.ask(query) })
    return try await reader.outcome(of: event, in: room)
  }
}

/// Sends requests with a token that only another process refreshes.
struct GuestTransport: Sendable {
  let transport: any Transport
  let session: Session

  /// - Parameter decrypt: gets the body and the target.
  func ask<Answer>(
    _ query: Query<Answer>, decrypt: (@Sendable ([UInt8], String) async -> [UInt8])? = nil
  ) async throws(ClientError) -> Answer {
    let target = query.request.target
    var body = try MatrixClient.check(await carry(query.request.endpoint.method, target, timeoutMilliseconds: 30_000))
    if let decrypt { body = await decrypt(body, target) }
    guard let json = try? JSON.parse(body) else { throw .badAnswer }
    return try query.answer(.answer(json))
  }

  /// nil where the server does not answer with JSON and status 200.
  func get(_ target: String, timeoutMilliseconds: Int64) async -> JSON? {
    guard case .answer(200, let body) = await carry(.get, target, timeoutMilliseconds: timeoutMilliseconds) else { return nil }
    return try? JSON.parse(body)
  }

  private func carry(_ method: Endpoint.Method, _ target: String, timeoutMilliseconds: Int64) async -> Response {
    let request = HTTPRequest(
      method: method, target: target, body: nil, contentType: nil, accessToken: session.accessToken,
      timeoutMilliseconds: timeoutMilliseconds)
    var exchange = Exchange(request, to: session.homeserver?.string ?? "")
    exchange.answerBytesLimit = 16 << 20
    return await transport.carry(exchange)
  }
}
