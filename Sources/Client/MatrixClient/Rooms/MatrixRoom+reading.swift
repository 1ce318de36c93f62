public import ClientCore
import JSON
public import MatrixModel

/// Reading and being read.
extension MatrixRoom {
  /// Everything there has been read.
  public func markRead() async throws(ClientError) { try await client.perform(.reading(.markRead(id))) }

  /// Everything up to this event has been read; it never moves back.
  /// - Parameters:
  ///   - isPublic: whether others see it.
  ///   - threadRoot: of the thread it is about; nil for all of the room.
  public func markRead(
    upTo event: EventID, isPublic: Bool = true, inThread threadRoot: EventID? = nil
  ) async throws(ClientError) {
    try await client.perform(.sendReceipt(upTo: event, in: id, isPublic: isPublic, threadRoot: threadRoot))
  }

  /// Where one goes on reading; nobody else sees it.
  public func setFullyRead(_ event: EventID) async throws(ClientError) {
    try await client.perform(.setFullyRead(event, in: id))
  }

  /// Who has read up to this event and no further, its sender among them, where the live timeline is open and has it.
  public func readers(at event: EventID) async -> [UserID] { await client.readers(at: event, in: id) }

  /// How many members have not read this event yet, its sender not counted; nil where the live timeline does not have it.
  public func unreadMemberCount(of event: EventID) async -> Int? { await client.unreadMemberCount(of: event, in: id) }

  /// Why the room counts as unread: which events, each by which push rule, and from where on.
  public func unreadEvidence() async throws(ClientError) -> UnreadEvidence {
    guard case .unread(let evidence) = try await client.result(of: .reading(.explainUnread(id))) else { throw .badAnswer }
    return evidence
  }

  // MARK: Writing

  /// Tells that one is writing: again and again as long as one is, or no longer. Sending ends it.
  public func setTyping(_ isTyping: Bool) async throws(ClientError) {
    try await client.perform(.sending(.setTyping(id, isTyping)))
  }

  /// Who writes, now and whenever it is different. Whoever went away without a word stops after 10 seconds.
  public func typing() async -> AsyncStream<[UserID]> { await client.typing(in: id) }
}

extension MatrixClient {
  /// Everything in all rooms has been read: in one request where the server offers that (`martlet.read_all`).
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
