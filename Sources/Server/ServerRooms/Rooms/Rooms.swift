import Database
import JSON
import MatrixModel
import RoomRules
import ServerAccounts
import ServerCore
import Synchronization

/// The rooms of this server: commands that add events, and what is read of them.
package final class Rooms: Sendable {
  /// A device of one of our users, acting.
  package struct Actor: Sendable {
    package let userID: UserID
    package let deviceID: DeviceID?
    /// Whether the server's administrators' rights over aliases and the list of rooms are theirs.
    package let isAdministrator: Bool
    /// ID of the application service that acts for the user.
    package let appService: ByteString?
    /// Milliseconds since 1970 when what it sends was written; nil for now.
    package var timestamp: Int64?

    /// Whether nothing but their own events is theirs to redact.
    package let isSuspended: Bool
    /// Whether what others would see of it is not done.
    package let isShadowBanned: Bool

    package init(
      userID: UserID, deviceID: DeviceID?, isAdministrator: Bool = false, isSuspended: Bool = false,
      isShadowBanned: Bool = false, appService: ByteString? = nil
    ) {
      self.userID = userID
      self.deviceID = deviceID
      self.isAdministrator = isAdministrator
      self.isSuspended = isSuspended
      self.isShadowBanned = isShadowBanned
      self.appService = appService
    }
  }

  package let cache = RoomCache()
  package let memberships: Memberships
  package let typing: Typing
  package let presence: Presence
  package let erasures: Erasures
  package let configuration: RoomConfiguration
  package let database: Database
  let notifier: Notifier
  package let directory: any RoomDirectory
  let observers: [any RoomObserver]
  /// What users have set for rooms.
  let settings: RoomSettings
  private let builder: EventBuilder
  /// What is shown, until those who wait are woken.
  let shown = Mutex(Shown())

  package init(
    _ configuration: RoomConfiguration, database: Database, notifier: Notifier, signingKey: SigningKey,
    settings: RoomSettings, directory: any RoomDirectory, observers: [any RoomObserver]
  ) {
    self.configuration = configuration
    self.database = database
    self.notifier = notifier
    self.settings = settings
    self.directory = directory
    self.observers = observers
    memberships = Memberships()
    erasures = Erasures(database)
    typing = Typing(database: database, notifier: notifier, observers: observers)
    presence = Presence(
      isEnabled: configuration.isPresenceEnabled, database: database, memberships: memberships, counter: typing.counter,
      notifier: notifier, observers: observers, clock: configuration.clock)
    builder = EventBuilder(server: configuration.serverName, key: signingKey)
    database.follow(.room, .purged, by: self)
  }

  // MARK: For commands

  /// Runs a command on one room and answers once its events are durable.
  ///
  /// Throws `M_FORBIDDEN` for a room that does not exist, as for one the user may not know of.
  package func edit<Value: Sendable>(
    _ roomID: RoomID, asking questions: @escaping @Sendable () -> [Question] = { [] },
    _ body: @escaping @Sendable (inout RoomEditor) throws -> Value
  ) async throws -> Value {
    try await database.write(asking: questions) { transaction in
      guard let room = try self.cache.newest(roomID, in: transaction) else {
        throw MatrixError.forbidden("You are not in this room.")
      }
      var editor = RoomEditor(room, in: transaction, of: self)
      let value = try body(&editor)
      editor.stage()
      return value
    }
  }

  func authorizeAndSign(_ event: EventDraft, in room: RoomSnapshot) throws(MatrixError) -> SignedEvent {
    do throws(AuthorizationError) {
      try room.version.authorize(event, in: room)
    } catch {
      throw .forbidden(error.message)
    }
    do throws(EventFormatError) {
      return try builder.build(event)
    } catch {
      throw error.isTooLarge ? .tooLarge(error.message) : .badJSON(error.message)
    }
  }

  /// Whether a membership takes the room off the user's record as `forget` does.
  func forgets(_ membership: Membership) -> Bool {
    configuration.forgetsRoomsOnLeave && (membership == .leave || membership == .ban)
  }

  // MARK: Transactions

  /// The event that a request made before, if this is its repetition.
  func sentEvent(
    _ transactionID: TransactionID, scope: String, by actor: Actor, in transaction: ReadTransaction
  ) throws -> EventID? {
    guard let deviceID = actor.deviceID else { return nil }
    return try transaction.first(Self.sentEvent, actor.userID, deviceID, scope, transactionID) { $0.identifier(0) }
  }

  private static let sentEvent: StaticString =
    "SELECT event_id FROM sent_transaction WHERE user_id = $1 AND device_id = $2 AND scope = $3 AND transaction_id = $4"

  /// What `sentEvent` will read.
  func questions(_ transactionID: TransactionID, scope: String, by actor: Actor) -> [Question] {
    actor.deviceID.map { [Question(Self.sentEvent, actor.userID, $0, scope, transactionID)] } ?? []
  }

  /// Remembers, in the event's own commit, which request made it; nothing for a device that was deleted meanwhile.
  func remember(
    _ event: StoredEvent, _ transactionID: TransactionID, scope: String, by actor: Actor,
    in transaction: WriteTransaction
  ) throws {
    guard let deviceID = actor.deviceID else { return }
    // One statement whose answer nobody needs.
    try transaction.execute(
      """
      INSERT INTO sent_transaction(user_id, device_id, scope, transaction_id, event_id, sent)
      SELECT $1, $2, $3, $4, $5, CAST($6 AS BIGINT)
      WHERE $7 = 1 OR EXISTS (SELECT 1 FROM device WHERE user_id = $1 AND device_id = $2)
      """, actor.userID, deviceID, scope, transactionID, event.eventID, configuration.clock.now(), deviceID == Session.noDevice)
  }

  /// How long a request may be repeated and still be known.
  package static let transactionLifetimeMilliseconds: Int64 = 24 * 60 * 60 * 1_000

  /// Forgets requests that are too old to be repeated. Reads all that are kept, so call it hourly, not for each request.
  package func forgetOldTransactions() async throws {
    let oldest = configuration.clock.now() - Self.transactionLifetimeMilliseconds
    typealias Key = (user: UserID, device: DeviceID, scope: String, transaction: TransactionID)
    var old = try await database.read { transaction in
      try transaction.all(
        "SELECT user_id, device_id, scope, transaction_id FROM sent_transaction WHERE sent < $1 LIMIT 100000", oldest
      ) { row -> Key in (row.identifier(0), row.identifier(1), row.text(2), row.identifier(3)) }
    }
    // In small bites: the writer serves everyone else in between.
    while !old.isEmpty {
      let bite = Array(old.suffix(200))
      old.removeLast(bite.count)
      try await database.write { transaction in
        for key in bite {
          try transaction.execute(
            """
            DELETE FROM sent_transaction
            WHERE user_id = $1 AND device_id = $2 AND scope = $3 AND transaction_id = $4
            """, key.user, key.device, key.scope, key.transaction)
        }
      }
    }
  }
}
