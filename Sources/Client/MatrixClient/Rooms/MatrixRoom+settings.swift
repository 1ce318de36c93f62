public import ClientCore
public import JSON
public import MatrixModel

/// How a room is set up. What is set shows in `state` once a sync brings it.
extension MatrixRoom {
  /// - Parameter name: empty for none.
  public func setName(_ name: String) async throws(ClientError) {
    try await client.perform(.rooms(.setName(id, ByteString(name))))
  }

  /// - Parameter topic: empty for none.
  public func setTopic(_ topic: String) async throws(ClientError) {
    try await client.perform(.rooms(.setTopic(id, ByteString(topic))))
  }

  /// - Parameter avatar: nil takes it away.
  public func setAvatar(_ avatar: MediaURI?) async throws(ClientError) {
    _ = try await client.perform(.setAvatar(avatar, of: id))
  }

  /// Uploads the picture first.
  public func setAvatar(path: String, mimeType: String) async throws(ClientError) {
    try await setAvatar(try await client.upload(path: path, mimeType: mimeType))
  }

  /// - Parameter rooms: whose members may join, where the rule is restricted.
  public func setJoinRule(_ rule: JoinRule, membersOf rooms: [RoomID] = []) async throws(ClientError) {
    _ = try await client.perform(.setJoinRule(rule, membersOf: rooms, of: id))
  }

  public func setHistoryVisibility(_ visibility: HistoryVisibility) async throws(ClientError) {
    _ = try await client.perform(.setHistoryVisibility(visibility, of: id))
  }

  public func setAllowsGuests(_ allows: Bool) async throws(ClientError) {
    _ = try await client.perform(.setAllowsGuests(allows, of: id))
  }

  /// The room that takes this one's place: it is known, and `state?.successor` of this one leads to it. Spec: "Room upgrades".
  ///
  /// It also takes this one's place in the spaces one may change; a space that refuses that keeps the old room.
  /// - Parameter version: nil for the one in which the server makes rooms.
  public func upgrade(to version: String? = nil, creators: [UserID] = []) async throws(ClientError) -> MatrixRoom {
    var new = version.map { ByteString($0) }
    if new == nil { new = try await client.capabilities().defaultRoomVersion }
    let room = try await client.perform(.upgrade(id, to: new ?? "", creators: creators))
    let arrived = try await client.arrival(of: room)
    await handOverPlaces(to: room)
    return arrived
  }

  // MARK: Addresses

  public func localAliases() async throws(ClientError) -> [RoomAlias] {
    try await client.perform(.localAliases(of: id))
  }

  public func addAlias(_ alias: RoomAlias) async throws(ClientError) {
    try await client.perform(.createAlias(alias, of: id))
  }

  /// - Parameter alias: the main address; nil for none. It has to lead to the room already, as have the others.
  public func setCanonicalAlias(_ alias: RoomAlias?, alternatives: [RoomAlias] = []) async throws(ClientError) {
    _ = try await client.perform(.setCanonicalAlias(alias, alternatives: alternatives, of: id))
  }

  /// Whether the server's directory lists it.
  public func isPublished() async throws(ClientError) -> Bool { try await client.perform(.isPublished(id)) }

  public func setPublished(_ isPublished: Bool) async throws(ClientError) {
    try await client.perform(.setPublished(id, isPublished))
  }

  // MARK: Any state

  /// The content of one state event as the server has it.
  public func stateContent(_ type: EventType, key: ByteString = "") async throws(ClientError) -> JSON {
    try await client.perform(.state(of: id, type: type, key: key))
  }

  /// All state events as the server has them.
  public func allState() async throws(ClientError) -> [Event] { try await client.perform(.state(of: id)) }

  /// - Parameter content: a JSON object, sent as it is.
  @discardableResult
  public func setState(_ type: EventType, key: ByteString = "", _ content: [UInt8]) async throws(ClientError) -> EventID {
    try await client.perform(.setState(type, key: key, content, of: id))
  }

  // MARK: Power

  /// Whether one may do that: answered at once, by what is known here. nil where only the server knows.
  public func can(_ action: RoomAction) async -> Bool? { await client.can(action, in: id) }

  /// - Parameter level: nil for that of everybody whom nobody gave one.
  /// - Throws: `notAllowed`, without asking the server.
  public func setPowerLevel(of user: UserID, to level: Int64?) async throws(ClientError) {
    try await client.perform(.people(.setPowerLevel(id, of: user, to: level)))
  }

  /// The level that one needs for something.
  /// - Throws: `notAllowed`, without asking the server.
  public func setRequiredLevel(_ subject: PowerSubject, to level: Int64) async throws(ClientError) {
    try await client.perform(.people(.setRequiredLevel(id, subject, to: level)))
  }

  /// - Throws: `notAllowed` also for the role of a creator, which nobody can give.
  public func setRole(_ role: RoomRole, of user: UserID) async throws(ClientError) {
    guard let level = role.suggestedLevel else { throw .notAllowed }
    try await setPowerLevel(of: user, to: level)
  }

  // MARK: What the account keeps of it

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

  /// Events that the account keeps under tags (`m.favourite`).
  public func taggedEvents() async throws(ClientError) -> TaggedEvents {
    do throws(ClientError) { return TaggedEvents(try await accountData(TaggedEvents.type)) } catch {
      guard case .refused(404, _, _, _) = error else { throw error }
      return TaggedEvents()
    }
  }

  public func tag(_ event: EventID, as tag: String) async throws(ClientError) {
    var tagged = try await taggedEvents()
    tagged.set(event, tag: ByteString(tag), now: MatrixClient.now())
    try await setAccountData(TaggedEvents.type, tagged.content)
  }

  public func untag(_ event: EventID, as tag: String) async throws(ClientError) {
    var tagged = try await taggedEvents()
    tagged.remove(event, tag: ByteString(tag))
    try await setAccountData(TaggedEvents.type, tagged.content)
  }

  // MARK: Reports

  public func report(_ event: EventID, reason: String) async throws(ClientError) {
    try await client.perform(.report(event, in: id, reason: ByteString(reason)))
  }

  public func report(reason: String) async throws(ClientError) {
    try await client.perform(.report(id, reason: ByteString(reason)))
  }
}

extension MatrixClient {
  func can(_ action: RoomAction, in room: RoomID) -> Bool? { core.can(action, in: room) }
}
