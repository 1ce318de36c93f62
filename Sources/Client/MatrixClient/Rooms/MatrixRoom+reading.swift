public import ClientCore
import JSON
public import MatrixModel

/// Read receipts and typing notifications.
extension MatrixRoom {
  /// Marks everything in the room as read.
  public func markRead() async throws(ClientError) { try await client.perform(.reading(.markRead(id))) }

  /// Marks everything up to an event as read. A receipt never moves back.
  /// - Parameters:
  ///   - isPublic: whether others see the receipt.
  ///   - threadRoot: the root of the thread; nil for the whole room.
  public func markRead(
    upTo event: EventID, isPublic: Bool = true, inThread threadRoot: EventID? = nil
  ) async throws(ClientError) {
    try await client.perform(.sendReceipt(upTo: event, in: id, isPublic: isPublic, threadRoot: threadRoot))
  }

  /// Sets the fully-read marker. Other users do not see it.
  public func setFullyRead(_ event: EventID) async throws(ClientError) {
    try await client.perform(.setFullyRead(event, in: id))
  }

  /// Returns the users whose last read event this is, including its sender. The live timeline must be open and contain the event.
  public func readers(at event: EventID) async -> [UserID] { await client.readers(at: event, in: id) }

  /// Returns the number of members who have not read this event, without its sender; nil if the live timeline does not contain it.
  public func unreadMemberCount(of event: EventID) async -> Int? { await client.unreadMemberCount(of: event, in: id) }

  /// Returns why the room counts as unread: the events, the push rule of each, and the read position.
  public func unreadEvidence() async throws(ClientError) -> UnreadEvidence {
    guard case .unread(let evidence) = try await client.result(of: .reading(.explainUnread(id))) else { throw .badAnswer }
    return evidence
  }

  // MARK: Writing

  /// Sets whether the user is typing. The client repeats the notification as long as it is true. Sending a message ends it.
  public func setTyping(_ isTyping: Bool) async throws(ClientError) {
    try await client.perform(.sending(.setTyping(id, isTyping)))
  }

  /// Returns a stream with the users who are typing now, and a new list at each change. A user without a further notification is removed after
  /// 10 seconds.
  public func typing() async -> AsyncStream<[UserID]> { await client.typing(in: id) }
}

extension MatrixClient {
  /// Marks everything in all rooms as read, in one request if the server offers it (`martlet.read_all`).
  public func markAllRead() async throws(ClientError) { try await perform(.reading(.markRead(nil))) }

  func readers(at event: EventID, in room: RoomID) -> [UserID] {
    guard let timeline = core.room(room)?.timeline, let item = timeline.item(at: event) else { return [] }
    return timeline.readers(at: item)
  }

  func unreadMemberCount(of event: EventID, in room: RoomID) -> Int? {
    guard let index = core.room(room)?.timeline.index(of: event) else { return nil }
    return core.unreadMemberCount(room, itemAt: index)
  }

  func typing(in room: RoomID) -> AsyncStream<[UserID]> {
    observe(startingWith: state(of: room)?.typing ?? []) { change, client in
      guard case .room(room, let aspects) = change, aspects.contains(.typing) else { return nil }
      return client.state(of: room)?.typing
    }
  }
}
