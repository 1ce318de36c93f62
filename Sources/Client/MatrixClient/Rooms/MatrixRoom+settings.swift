public import ClientCore
public import JSON
public import MatrixModel

/// The settings of a room. A change shows in `state` when a sync brings it.
extension MatrixRoom {
  /// Sets the name of the room.
  /// - Parameter name: if empty, removes the name.
  public func setName(_ name: String) async throws(ClientError) {
    try await client.perform(.rooms(.setName(id, ByteString(name))))
  }

  /// Sets the topic of the room.
  /// - Parameter topic: if empty, removes the topic.
  public func setTopic(_ topic: String) async throws(ClientError) {
    try await client.perform(.rooms(.setTopic(id, ByteString(topic))))
  }

  /// Encrypts what is said in the room from now on. That cannot be taken back.
  public func encrypt() async throws(ClientError) {
    try await setState(.encryption, Array(#"{"algorithm":"m.megolm.v1.aes-sha2"}"#.utf8))
  }

  /// Sets the avatar of the room.
  /// - Parameter avatar: nil removes it.
  public func setAvatar(_ avatar: MediaURI?) async throws(ClientError) {
    _ = try await client.perform(.setAvatar(avatar, of: id))
  }

  /// Uploads a picture and sets it as the avatar of the room.
  public func setAvatar(path: String, mimeType: String) async throws(ClientError) {
    try await setAvatar(try await client.upload(path: path, mimeType: mimeType))
  }

  /// Sets who can join the room.
  /// - Parameter rooms: the rooms whose members can join if the rule is restricted.
  public func setJoinRule(_ rule: JoinRule, membersOf rooms: [RoomID] = []) async throws(ClientError) {
    _ = try await client.perform(.setJoinRule(rule, membersOf: rooms, of: id))
  }

  public func setHistoryVisibility(_ visibility: HistoryVisibility) async throws(ClientError) {
    _ = try await client.perform(.setHistoryVisibility(visibility, of: id))
  }

  public func setAllowsGuests(_ allows: Bool) async throws(ClientError) {
    _ = try await client.perform(.setAllowsGuests(allows, of: id))
  }

  /// Upgrades the room and returns its successor. The client then knows the successor, also as `state?.successor` of this room. Spec: "Room
  /// upgrades".
  ///
  /// The successor also replaces this room in the spaces that the user can change. A space that refuses the change keeps the old room.
  /// - Parameter version: the room version; nil for the server's default.
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

  /// Sets the main address and the alternative addresses. Each must already be an alias of the room.
  /// - Parameter alias: the main address; nil removes it.
  public func setCanonicalAlias(_ alias: RoomAlias?, alternatives: [RoomAlias] = []) async throws(ClientError) {
    _ = try await client.perform(.setCanonicalAlias(alias, alternatives: alternatives, of: id))
  }

  /// Returns whether the server lists the room among the public rooms.
  public func isPublished() async throws(ClientError) -> Bool { try await client.perform(.isPublished(id)) }

  public func setPublished(_ isPublished: Bool) async throws(ClientError) {
    try await client.perform(.setPublished(id, isPublished))
  }

  // MARK: Any state

  /// Requests the content of a state event from the server.
  public func stateContent(_ type: EventType, key: ByteString = "") async throws(ClientError) -> JSON {
    try await client.perform(.state(of: id, type: type, key: key))
  }

  /// Requests all state events from the server.
  public func allState() async throws(ClientError) -> [Event] { try await client.perform(.state(of: id)) }

  /// Sends a state event.
  /// - Parameter content: a JSON object, which is sent unchanged.
  @discardableResult
  public func setState(_ type: EventType, key: ByteString = "", _ content: [UInt8]) async throws(ClientError) -> EventID {
    try await client.perform(.setState(type, key: key, content, of: id))
  }

  // MARK: Power

  /// Returns whether the user can do an action, by the known state of the room; nil if only the server knows.
  public func can(_ action: RoomAction) async -> Bool? { await client.can(action, in: id) }

  /// Sets the power level of a user.
  /// - Parameter level: nil for the room's default level.
  /// - Throws: `notAllowed`, without asking the server.
  public func setPowerLevel(of user: UserID, to level: Int64?) async throws(ClientError) {
    try await client.perform(.people(.setPowerLevel(id, of: user, to: level)))
  }

  /// Sets the power level that an action requires.
  /// - Throws: `notAllowed`, without asking the server.
  public func setRequiredLevel(_ subject: PowerSubject, to level: Int64) async throws(ClientError) {
    try await client.perform(.people(.setRequiredLevel(id, subject, to: level)))
  }

  /// Gives a user a role.
  /// - Throws: `notAllowed`, also for the role of a creator, which cannot be given.
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

  /// Returns the events that the account keeps under tags, such as `m.favourite`.
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
