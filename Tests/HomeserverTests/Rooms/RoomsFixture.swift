import Database
import Glibc
import JSON
import MatrixModel
import RoomRules
import Synchronization

@testable import Homeserver
@testable import ServerAccounts
@testable import ServerCore
@testable import ServerDirectory
@testable import ServerRooms

/// A rooms chapter on a real database in a folder of its own, with users that exist by decree and a clock that is set.
final class RoomsFixture: Sendable {
  static let server = ServerName(trusted: "example.org")

  private let folder: TemporaryFolder
  let configuration: HomeserverConfiguration
  let database: Database
  let notifier: Notifier
  let accountData: AccountData
  let pushRules: PushRules
  let hiddenRows: HiddenRoomRows
  let rooms: Rooms
  private let nextTransaction = Atomic<Int>(0)
  private let time: Time

  private final class Time: Sendable {
    let milliseconds = Atomic<Int64>(1_700_000_000_000)
  }

  /// Everyone has an account but names that begin with `nobody`; names that begin with `guest` are guests'.
  private struct Directory: RoomDirectory {
    func profile(of user: UserID, in transaction: ReadTransaction) throws -> Profile? {
      user.localpart.hasPrefix("nobody") ? nil : Profile(fields: [("displayname", Array("\"\(user.localpart)\"".utf8))])
    }
    func isGuest(_ user: UserID, in transaction: ReadTransaction) throws -> Bool { user.localpart.hasPrefix("guest") }
    func provideUser(_ user: UserID) async throws {}
    func provideRoom(_ alias: RoomAlias) async throws -> Bool { false }
    func requireMayChange(_ alias: RoomAlias, by actor: Rooms.Actor) throws {}
    func isReserved(_ alias: RoomAlias, for actor: Rooms.Actor) -> Bool { false }
  }

  func setTime(_ milliseconds: Int64) { time.milliseconds.store(milliseconds, ordering: .relaxed) }

  convenience init(
    in folder: TemporaryFolder = TemporaryFolder(), observers: [any RoomObserver] = [],
    _ configure: (inout HomeserverConfiguration) -> Void = { _ in }
  ) throws {
    var configuration = HomeserverConfiguration(serverName: Self.server, dataDirectory: folder.path)
    let time = Time()
    configuration.clock = WallClock { time.milliseconds.load(ordering: .relaxed) }
    configure(&configuration)
    let database = try Database(configuration.database, migrations: Schema.migrations())
    self.init(in: folder, configuration, time, database, observers)
  }

  private init(
    in folder: TemporaryFolder, _ configuration: HomeserverConfiguration, _ time: Time, _ database: Database,
    _ observers: [any RoomObserver]
  ) {
    self.folder = folder
    self.configuration = configuration
    self.time = time
    self.database = database
    notifier = Notifier(database)
    guard let key = SigningKey(seed: Array(0..<32), version: "test") else { preconditionFailure("32 bytes are a seed") }
    accountData = AccountData(database: database, notifier: notifier)
    pushRules = PushRules(database: database, accountData: accountData)
    hiddenRows = HiddenRoomRows(accountData: accountData)
    rooms = Rooms(
      configuration.rooms, database: database, notifier: notifier, signingKey: key,
      settings: RoomSettings(accountData: accountData, pushRules: pushRules), directory: Directory(),
      observers: [hiddenRows, PublicRoomList(), SearchProgress(database: database)] + observers)
  }

  /// Another node on the same database: only notes connect the two.
  func otherNode(observers: [any RoomObserver] = []) -> RoomsFixture {
    RoomsFixture(in: folder, configuration, time, database, observers)
  }

  /// The same database as after a restart.
  func reopened(_ configure: (inout HomeserverConfiguration) -> Void = { _ in }) throws -> RoomsFixture {
    database.close()
    return try RoomsFixture(in: folder, configure)
  }

  static func user(_ name: String) -> UserID { UserID(trusted: ByteString("@\(name):example.org")) }

  static func actor(_ name: String, device: String = "DEVICE") -> Rooms.Actor {
    Rooms.Actor(userID: user(name), deviceID: DeviceID(trusted: ByteString(device)))
  }

  /// Nothing where it is there.
  func addDevice(_ name: String, _ device: String = "DEVICE") async throws {
    _ = try await database.write { transaction in
      try transaction.execute(
        """
        INSERT INTO device(user_id, device_id, display_name, created, last_seen) VALUES($1, $2, '', 0, 0)
        ON CONFLICT(user_id, device_id) DO NOTHING
        """, Self.user(name), device)
    }
  }

  func createRoom(by name: String, _ body: String = "{}") async throws -> RoomID {
    try await rooms.create(RoomCreation(json(body), defaultVersion: "12"), by: Self.actor(name))
  }

  /// - transaction: may be repeated; then the sender's device is there.
  @discardableResult
  func send(_ text: String, to room: RoomID, by name: String, transaction: String? = nil) async throws -> EventID {
    if transaction != nil { try await addDevice(name) }
    let number = nextTransaction.wrappingAdd(1, ordering: .relaxed).newValue
    return try await rooms.send(
      .message, json(#"{"msgtype":"m.text","body":"\#(text)"}"#), to: room, by: Self.actor(name),
      transactionID: TransactionID(trusted: ByteString(transaction ?? "t\(number)")))
  }

  func bodies(of room: RoomID, for name: String) async throws -> [String] {
    let page = try await rooms.messages(
      of: room, for: Self.user(name), from: nil, to: nil, .backward, limit: 100, EventFilter())
    return page.events.compactMap { $0.content["body"]?.string }
  }
}

func json(_ text: String) throws -> JSON { try JSON.parse(Array(text.utf8)) }

/// The errcode of what `body` throws; nil when it throws nothing or something else.
func errorCode(of body: () async throws -> Void) async -> ErrorCode? {
  do {
    try await body()
    return nil
  } catch {
    return (error as? MatrixError)?.code
  }
}
