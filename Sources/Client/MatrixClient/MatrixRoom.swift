public import ClientCore
import JSON
public import MatrixModel

/// A room of a client: a handle, good as long as the client is, for rooms one is in and for others.
///
///     guard let tea = await client.room(named: "Tea") else { return }
///     try await tea.send("Hello")
public struct MatrixRoom: Sendable, Hashable {
  public let client: MatrixClient
  public let id: RoomID

  public static func == (left: MatrixRoom, right: MatrixRoom) -> Bool {
    left.id == right.id && left.client === right.client
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// Being in a room.
extension MatrixRoom {
  /// What is known of it now; nil where it is not known.
  public var state: Room? { get async { await client.state(of: id) } }

  /// Ends when a sync has brought the room, so that it can be written and read at once.
  public func join() async throws(ClientError) {
    try await client.perform(.join(id.text))
    await client.wait { $0.room(id)?.membership == .join || $0.sessionState != .signedIn }
  }

  public func leave() async throws(ClientError) { try await client.perform(.leave(id)) }
  /// Once one has left it.
  public func forget() async throws(ClientError) { try await client.perform(.forget(id)) }

  public func invite(_ user: UserID) async throws(ClientError) {
    try await client.perform(.invite(id, user: user.text))
  }

  public func kick(_ user: UserID, reason: String? = nil) async throws(ClientError) {
    try await client.perform(.kick(id, user, reason: reason.map { ByteString($0) }))
  }

  public func ban(_ user: UserID, reason: String? = nil) async throws(ClientError) {
    try await client.perform(.ban(id, user, reason: reason.map { ByteString($0) }))
  }

  public func unban(_ user: UserID) async throws(ClientError) { try await client.perform(.unban(id, user)) }

  public func setName(_ name: String) async throws(ClientError) {
    try await client.perform(.setRoomName(id, ByteString(name)))
  }

  public func setTopic(_ topic: String) async throws(ClientError) {
    try await client.perform(.setRoomTopic(id, ByteString(topic)))
  }

  /// Has the whole member list loaded.
  public func loadMembers() async throws(ClientError) { try await client.perform(.loadMembers(id)) }
}

/// Writing.
extension MatrixRoom {
  /// Puts a text into the outbox; it goes out in order, also after a restart where the store keeps it.
  public func send(_ text: String) async throws(ClientError) { try await client.send(text, to: id) }

  public func send(_ message: OutgoingMessage) async throws(ClientError) { try await client.perform(.send(id, message)) }

  /// Messages that come in from now on, own ones included. Opens the room.
  public func messages() async -> AsyncStream<TimelineItem> { await client.messages(in: id) }
}
