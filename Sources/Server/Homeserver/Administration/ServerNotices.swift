import Database
import JSON
import MatrixModel
import RoomRules
import ServerAccounts
import ServerRooms

/// The user in whose name the server speaks. Its account is made with the first notice.
package struct ServerNoticeConfiguration: Sendable {
  package var localpart: ByteString = "server-notices"
  package var displayName: ByteString = "Server notices"

  package init() {}
}

/// Messages of the server's administrators to its users, each in one room of their own.
///
/// Spec: Client-Server API, "Server Notices".
package final class ServerNotices: Sendable {
  /// What the account of the notices user is known by.
  package static let userType = Account.noticesType
  /// Bytes of a notice's content.
  package static let contentBytesLimit = 32 << 10

  package struct Notice: Sendable {
    package let type: EventType
    package let stateKey: ByteString?
    package let content: JSON

    /// Throws `M_TOO_LARGE`.
    package init(_ type: EventType = .message, stateKey: ByteString? = nil, _ content: JSON) throws(MatrixError) {
      guard content.bytes.count <= ServerNotices.contentBytesLimit else {
        throw .tooLarge("A notice has at most \(ServerNotices.contentBytesLimit) bytes.")
      }
      self.type = type
      self.stateKey = stateKey
      self.content = content
    }
  }

  private let configuration: HomeserverConfiguration
  private let database: Database
  private let accounts: Accounts
  private let rooms: Rooms
  private let accountData: AccountData
  private let tasks: AdministrationTasks

  init(
    _ configuration: HomeserverConfiguration, database: Database, accounts: Accounts, rooms: Rooms,
    accountData: AccountData, tasks: AdministrationTasks
  ) {
    self.configuration = configuration
    self.database = database
    self.accounts = accounts
    self.rooms = rooms
    self.accountData = accountData
    self.tasks = tasks
    tasks.carryOut(.broadcast) { [self] in try await broadcast($0) }
  }

  // MARK: One user

  /// Sends a notice to a user of this server. The same transaction ID of the same administrator gives the same event.
  ///
  /// Throws `M_NOT_FOUND`, `M_USER_IN_USE` where somebody else has the name of the notices user, and what sending an event throws.
  package func send(
    _ notice: Notice, to user: UserID, by administrator: Administrator, transactionID: TransactionID? = nil
  ) async throws -> EventID {
    try await database.write { [self] tx in
      if let transactionID, let sent = try Self.sent(transactionID, by: administrator, in: tx) { return sent }
      guard let account = try Accounts.account(tx, user), !account.isDeactivated else {
        throw MatrixError.notFound("There is no such account.")
      }
      try prepareSender(in: tx)
      let eventID = try deliver(notice, to: user, in: tx)
      if let transactionID {
        try tx.execute(
          "INSERT INTO sent_notice(actor, transaction_id, event_id, sent) VALUES($1, $2, $3, $4)", administrator.name,
          transactionID, eventID, configuration.clock.now())
      }
      return eventID
    }
  }

  private static func sent(_ transactionID: TransactionID, by administrator: Administrator, in tx: ReadTransaction) throws
    -> EventID?
  {
    try tx.first(
      "SELECT event_id FROM sent_notice WHERE actor = $1 AND transaction_id = $2", administrator.name, transactionID
    ) { $0.identifier(0) }
  }

  /// Forgets requests that are too old to be repeated.
  package func forgetOldTransactions() async throws {
    let oldest = configuration.clock.now() - Rooms.transactionLifetimeMilliseconds
    try await database.write { tx in try tx.execute("DELETE FROM sent_notice WHERE sent < $1", oldest) }
  }

  // MARK: Everyone

  /// Sends a notice to everyone with an account of their own (no guests, no application services' users), in the background;
  /// the answer is the task's ID. Who makes an account later does not get it; nobody gets it twice.
  package func startBroadcast(_ notice: Notice, by administrator: Administrator) async throws -> String {
    try await database.write { [self] tx in try prepareSender(in: tx) }
    let now = configuration.clock.now()
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("type", notice.type)
      if let stateKey = notice.stateKey { writer.member("state_key", stateKey) }
      writer.member("content", notice.content)
      writer.member("until", now)
    }
    let sender = configuration.noticesUser
    return try await tasks.start(.broadcast, of: "", by: administrator, parameters: writer.bytes) { tx in
      try tx.first(
        """
        SELECT COUNT(*) FROM account
        WHERE deactivated = 0 AND is_guest = 0 AND app_service IS NULL AND created <= $1 AND user_id <> $2
        """, now, sender
      ) { $0.integer(0) } ?? 0
    }
  }

  /// One user at a time, and in the notice's own commit who got it: a process that is killed anywhere goes on behind them.
  private func broadcast(_ task: AdministrationTask) async throws -> [UInt8] {
    let parameters = task.parameters
    guard let type = EventType(parameters["type"]), let content = parameters["content"] else {
      throw MatrixError.badJSON("The notice cannot be read.")
    }
    let notice = try Notice(type, stateKey: parameters["state_key"]?.text, content)
    let until = parameters["until"]?.integer ?? 0
    while true {
      try Task.checkCancellation()
      let refused: UserID?
      do {
        guard try await database.write({ [self] tx in try deliverNext(notice, task.id, until, in: tx) }) else { break }
        continue
      } catch let refusal as Refusal { refused = refusal.user }
      guard let refused else { continue }
      try await database.write { [tasks] tx in
        let failed = try AdministrationTasks.task(task.id, in: tx).result?["failed"]?.integer ?? 0
        try tasks.advance(task.id, to: refused.string, done: 1, result: Self.result(failed: failed + 1), in: tx)
      }
    }
    let failed = try await tasks.task(task.id).result?["failed"]?.integer ?? 0
    return Self.result(failed: failed)
  }

  /// Somebody cannot be sent the notice; the others can.
  private struct Refusal: Error { let user: UserID }

  /// Answers whether there was one more.
  private func deliverNext(_ notice: Notice, _ task: String, _ until: Int64, in tx: WriteTransaction) throws -> Bool {
    let cursor = try AdministrationTasks.task(task, in: tx).cursor
    let next = try tx.first(
      """
      SELECT user_id FROM account
      WHERE user_id > $1 AND deactivated = 0 AND is_guest = 0 AND app_service IS NULL AND created <= $2 AND user_id <> $3
      ORDER BY user_id LIMIT 1
      """, cursor, until, configuration.noticesUser
    ) { $0.identifier(0, as: UserID.self) }
    guard let user = next else { return false }
    do { _ = try deliver(notice, to: user, in: tx) } catch is MatrixError { throw Refusal(user: user) }
    try tasks.advance(task, to: user.string, done: 1, in: tx)
    return true
  }

  private static func result(failed: Int64) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { $0.member("failed", failed) }
    return writer.bytes
  }

  // MARK: The room

  /// Creates the account of the notices user if necessary. Throws `M_USER_IN_USE` if it belongs to somebody.
  private func prepareSender(in tx: WriteTransaction) throws {
    let sender = configuration.noticesUser
    if let account = try Accounts.account(tx, sender) {
      guard account.userType == Self.userType else {
        throw MatrixError(
          status: 400, .userInUse,
          "\(sender) is somebody's account; set server_notices.localpart to a name nobody has.")
      }
      return
    }
    var account = NewAccount(configuration.notices.localpart)
    account.userType = Self.userType
    account.displayName = configuration.notices.displayName
    try accounts.create(tx, account, sender, passwordHash: nil)
  }

  private func deliver(_ notice: Notice, to user: UserID, in tx: WriteTransaction) throws -> EventID {
    let sender = configuration.noticesUser
    let room = try room(of: user, in: tx)
    var editor = RoomEditor(room, in: tx, of: rooms)
    if room.membership(of: user) != .join, room.membership(of: user) != .invite {
      try rooms.appendMember(.invite, of: user, by: sender, reason: nil, to: &editor)
    }
    let event = try editor.append(
      RoomEditor.Draft(type: notice.type, sender: sender, stateKey: notice.stateKey, content: notice.content))
    editor.stage()
    return event.eventID
  }

  /// Returns the user's notice room, created if necessary.
  private func room(of user: UserID, in tx: WriteTransaction) throws -> RoomSnapshot {
    let known = try tx.first("SELECT room_id FROM notice_room WHERE user_id = $1", user) {
      $0.identifier(0, as: RoomID.self)
    }
    if let known, let room = try rooms.cache.newest(known, in: tx) { return room }
    let actor = Rooms.Actor(userID: configuration.noticesUser, deviceID: nil)
    let roomID = try rooms.create(try creation(for: user), by: actor, in: tx).roomID
    try tx.execute(
      """
      INSERT INTO notice_room(user_id, room_id) VALUES($1, $2)
      ON CONFLICT(user_id) DO UPDATE SET room_id = excluded.room_id
      """, user, roomID)
    try accountData.store(tx, .tag, Array(#"{"tags":{"m.server_notice":{}}}"#.utf8), of: user, in: roomID)
    guard let room = try rooms.cache.newest(roomID, in: tx) else {
      throw MatrixError.notFound("There is no such room on this server.")
    }
    return room
  }

  /// The user reads and may leave; nobody but the server writes.
  private func creation(for user: UserID) throws -> RoomCreation {
    let body = try JSON.object { writer in
      writer.member("preset", "private_chat")
      writer.member("name", configuration.notices.displayName)
      writer.key("invite")
      writer.array { $0.write(user) }
      writer.key("creation_content")
      writer.object { $0.member("m.federate", false) }
      writer.key("power_level_content_override")
      writer.object { writer in
        writer.member("events_default", 50)
        writer.member("invite", 50)
      }
    }
    return try RoomCreation(body, defaultVersion: configuration.defaultRoomVersion)
  }
}
