public import ClientCore
public import JSON
public import MatrixModel

/// Looking things up in a room on the server, see the calls of the same names.
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

  // MARK: State and account data

  /// The content of one state event.
  public func stateContent(_ type: EventType, key: ByteString = "") async throws(ClientError) -> JSON {
    try await client.perform(.state(of: id, type: type, key: key))
  }

  public func joinedMembers() async throws(ClientError) -> [JoinedMember] {
    try await client.perform(.joinedMembers(of: id))
  }

  public func accountData(_ type: EventType) async throws(ClientError) -> JSON {
    try await client.perform(.accountData(type, of: try await client.ownUserID(), in: id))
  }

  /// - Parameter content: a JSON object.
  public func setAccountData(_ type: EventType, _ content: [UInt8]) async throws(ClientError) {
    try await client.perform(.setAccountData(type, content, of: try await client.ownUserID(), in: id))
  }

  public func tags() async throws(ClientError) -> JSON {
    try await client.perform(.tags(of: id, for: try await client.ownUserID()))
  }

  // MARK: Directory

  /// A page of the rooms of this space.
  public func hierarchy(
    suggestedOnly: Bool = false, maxDepth: Int? = nil, limit: Int? = nil, from: ByteString? = nil
  ) async throws(ClientError) -> HierarchyPage {
    try await client.perform(
      .hierarchy(of: id, suggestedOnly: suggestedOnly, maxDepth: maxDepth, limit: limit, from: from))
  }

  public func localAliases() async throws(ClientError) -> [RoomAlias] {
    try await client.perform(.localAliases(of: id))
  }

  public func addAlias(_ alias: RoomAlias) async throws(ClientError) {
    try await client.perform(.createAlias(alias, of: id))
  }

  public func isPublished() async throws(ClientError) -> Bool { try await client.perform(.isPublished(id)) }

  public func setPublished(_ isPublished: Bool) async throws(ClientError) {
    try await client.perform(.setPublished(id, isPublished))
  }

  // MARK: Reports

  public func report(_ event: EventID, reason: String) async throws(ClientError) {
    try await client.perform(.report(event, in: id, reason: ByteString(reason)))
  }

  public func report(reason: String) async throws(ClientError) {
    try await client.perform(.report(id, reason: ByteString(reason)))
  }
}
