import MatrixClient

/// What a case is given: a homeserver, and accounts on it that are nobody else's. Its clients stop with the case.
actor Stage {
  nonisolated let homeserver: String
  nonisolated let announced: Announced
  nonisolated let folder: TemporaryFolder
  private var clients: [MatrixClient] = []

  static let password = "correct horse battery"

  nonisolated let syncMode: SyncMode

  init(homeserver: String, announced: Announced, syncMode: SyncMode) throws {
    self.homeserver = homeserver
    self.syncMode = syncMode
    self.announced = announced
    folder = try TemporaryFolder()
  }

  /// A name that nobody has used.
  nonisolated func fresh(_ name: String) -> String { name + String(UInt64.random(in: 1 << 48 ... .max), radix: 36) }

  /// A new account, signed in and synced. Most cases are not about encryption: fifty keys for each device would be half of the server's work.
  func user(
    _ name: String, store: any Store = MemoryStore(), syncMode: SyncMode? = nil, encrypts: Bool = false
  ) async throws -> MatrixClient {
    keep(
      try await MatrixClient.register(
        at: homeserver, username: fresh(name), password: Stage.password, store: store, syncMode: syncMode ?? self.syncMode,
        encrypts: encrypts))
  }

  /// Another device of the account.
  func device(
    of client: MatrixClient, password: String = Stage.password, store: any Store = MemoryStore(), syncMode: SyncMode? = nil
  ) async throws -> MatrixClient {
    let user = try unwrap(await client.userID, "user")
    return keep(
      try await MatrixClient.logIn(
        to: homeserver, user: user.string, password: password, store: store, syncMode: syncMode ?? self.syncMode,
        encrypts: false))
  }

  func restored(_ session: Session, store: any Store = MemoryStore()) async throws -> MatrixClient {
    keep(try await MatrixClient.restore(session, homeserver: homeserver, store: store, syncMode: syncMode, encrypts: false))
  }

  /// Has the client stopped when the case ends.
  @discardableResult
  func keep(_ client: MatrixClient) -> MatrixClient {
    clients.append(client)
    return client
  }

  func close() async {
    for client in clients { await client.stop() }
    folder.remove()
  }

  /// Two accounts in a room that the first one made.
  func pair(
    _ room: NewRoom = NewRoom(preset: .publicChat), encrypts: Bool = false
  ) async throws -> (alice: MatrixRoom, bob: MatrixRoom) {
    let alice = try await user("alice", encrypts: encrypts)
    let bob = try await user("bob", encrypts: encrypts)
    let made = try await alice.make(room)
    let joined = bob.room(made.id)
    try await joined.join()
    _ = try await made.until("both are members") { $0.joinedMemberCount == 2 }
    _ = try await joined.until("both are members") { $0.joinedMemberCount == 2 }
    return (made, joined)
  }
}

extension MatrixClient {
  var ownID: UserID {
    get throws { try unwrap(userID, "user") }
  }

  func make(_ room: NewRoom) async throws -> MatrixRoom {
    let id = try unwrap(try await perform(.rooms(.create(room))), "room")
    // It is known once the sync brings it.
    _ = try await until("the room") { client in client.state(of: id) }
    return self.room(id)
  }

  /// Looks after every change until it finds something.
  func until<Value: Sendable>(
    _ what: String, _ look: @Sendable (isolated MatrixClient) -> Value?
  ) async throws -> Value {
    let changes = changes()
    if let value = look(self) { return value }
    for await _ in changes {
      if let value = look(self) { return value }
    }
    throw Failure("waited in vain: \(what)")
  }
}

extension MatrixRoom {
  /// Looks after every change until the room is so.
  @discardableResult
  func until(_ what: String, _ isSo: @Sendable (Room) -> Bool) async throws -> Room {
    let id = self.id
    do {
      return try await client.until(what) { client in client.state(of: id).flatMap { isSo($0) ? $0 : nil } }
    } catch let failure as Failure {
      guard let room = await state else { throw failure }
      throw Failure(
        "\(failure); in the end \(room.notificationCount) unread, \(room.highlightCount) mentions, \(room.joinedMemberCount) members"
      )
    }
  }

  /// Opens the room and waits for an item.
  func item(_ what: String, _ isIt: @Sendable (TimelineItem) -> Bool) async throws -> TimelineItem {
    try await client.perform(.timeline(.openRoom(id)))
    let room = try await until(what) { $0.timeline.items.contains(where: isIt) }
    return try unwrap(room.timeline.items.last(where: isIt), what)
  }

  /// The item of a text that the server has.
  func item(saying text: String) async throws -> TimelineItem {
    try await item("the message \(text)") { item in
      if case .received = item.delivery { item.text == text } else { false }
    }
  }

  /// Sends a text and waits until it came back.
  @discardableResult
  func say(_ text: String) async throws -> EventID {
    try await client.perform(.timeline(.openRoom(id)))
    try await send(text)
    return try unwrap(try await item(saying: text).eventID, "event ID")
  }
}

extension TimelineItem {
  /// The body of a message; nil for everything else.
  var text: String? {
    if case .message(let message) = content { message.body.string } else { nil }
  }
}
