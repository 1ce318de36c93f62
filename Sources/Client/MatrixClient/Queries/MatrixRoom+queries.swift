public import ClientCore
public import JSON
public import MatrixModel

/// Queries about a room, see the functions of `Query` with the same names.
extension MatrixRoom {
  public func event(_ event: EventID) async throws(ClientError) -> Event {
    try await client.perform(.event(event, in: id))
  }

  public func context(of event: EventID, limit: Int? = nil) async throws(ClientError) -> EventContext {
    try await client.perform(.context(of: event, in: id, limit: limit))
  }

  public func relations(
    of event: EventID, relation: ByteString? = nil, type: EventType? = nil, recurses: Bool = false, limit: Int? = nil,
    from: ByteString? = nil
  ) async throws(ClientError) -> EventPage {
    try await client.perform(
      .relations(of: event, in: id, relation: relation, type: type, recurses: recurses, limit: limit, from: from))
  }

  public func threads(
    participatedOnly: Bool = false, limit: Int? = nil, from: ByteString? = nil
  ) async throws(ClientError) -> EventPage {
    try await client.perform(.threads(in: id, participatedOnly: participatedOnly, limit: limit, from: from))
  }

  public func event(at timestampMilliseconds: Int64, direction: Direction) async throws(ClientError) -> EventAtTime {
    try await client.perform(.event(at: timestampMilliseconds, in: id, direction: direction))
  }

  public func joinedMembers() async throws(ClientError) -> [JoinedMember] {
    try await client.perform(.joinedMembers(of: id))
  }

  /// Returns a page of the rooms of this space.
  public func hierarchy(
    suggestedOnly: Bool = false, maxDepth: Int? = nil, limit: Int? = nil, from: ByteString? = nil
  ) async throws(ClientError) -> HierarchyPage {
    try await client.perform(
      .hierarchy(of: id, suggestedOnly: suggestedOnly, maxDepth: maxDepth, limit: limit, from: from))
  }
}
