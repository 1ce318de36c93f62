import Database
import JSON
import MatrixModel
import Synchronization

@testable import ServerAccounts
@testable import ServerCore
@testable import ServerDirectory
@testable import ServerRooms
@testable import ServerSync

/// Rooms and everything a sync reads, on a real database. Users exist by decree; devices are rows that `device(_:_:)` makes.
final class SyncFixture: Sendable {
  let base: RoomsFixture
  let accountData: AccountData
  let pushRules: PushRules
  let receipts: Receipts
  let unread: Unread
  let toDevice: ToDeviceMessages
  let deviceLists: DeviceLists
  let deviceKeys: DeviceKeys
  let filters: SyncFilters
  let storedFilters: StoredFilters
  let presence: Presence
  let hidden: HiddenRooms
  let engine: SyncEngine
  let sliding: SlidingSync

  var rooms: Rooms { base.rooms }
  var database: Database { base.database }
  var notifier: Notifier { base.notifier }

  init(_ base: RoomsFixture? = nil, boot: Int64 = 1) throws {
    let base = try base ?? RoomsFixture()
    self.base = base
    let (database, notifier, clock) = (base.database, base.notifier, base.configuration.clock)
    accountData = base.accountData
    pushRules = base.pushRules
    receipts = Receipts(database: database, rooms: base.rooms, accountData: accountData, clock: clock)
    unread = Unread(database: database, receipts: receipts, pushRules: pushRules)
    toDevice = ToDeviceMessages(database: database, notifier: notifier, clock: clock, census: DeviceCensus())
    deviceLists = DeviceLists(database: database, notifier: notifier, census: DeviceCensus())
    deviceKeys = DeviceKeys(database: database, lists: deviceLists, notifier: notifier)
    storedFilters = StoredFilters(database: database)
    filters = SyncFilters(stored: storedFilters)
    presence = base.rooms.presence
    hidden = HiddenRooms(database: database, rooms: base.rooms, rows: base.hiddenRows, clock: clock)
    engine = SyncEngine(
      database: database, notifier: notifier,
      sources: SyncSources(
        rooms: base.rooms, receipts: receipts, unread: unread, pushRules: pushRules, presence: presence),
      toDeviceMessages: toDevice, clock: clock, boot: boot)
    sliding = SlidingSync(engine)
  }

  /// The same as after a restart.
  func reopened() throws -> SyncFixture { try SyncFixture(base.reopened(), boot: engine.boot + 1) }

  func client(_ name: String, device: String = "DEVICE", filter: String? = nil) throws -> SyncClient {
    SyncClient(self, name, device, try filter.map { try SyncFilter(json($0)) } ?? SyncFilter.open)
  }

  func addDevice(_ name: String, _ device: String = "DEVICE") async throws { try await base.addDevice(name, device) }

  /// Of a device that is there.
  func session(_ name: String, _ device: String = "DEVICE") async throws -> Session {
    try await addDevice(name, device)
    return Session(
      userID: RoomsFixture.user(name), deviceID: DeviceID(trusted: ByteString(device)),
      token: AccessToken.random().hash, lastSeen: 0)
  }

  /// A room of all `names`. The first creates it.
  func room(of names: String..., settings: String = #"{"preset":"public_chat"}"#) async throws -> RoomID {
    let room = try await base.createRoom(by: names[0], settings)
    for name in names.dropFirst() { try await rooms.join(room, by: RoomsFixture.actor(name)) }
    return room
  }
}

/// A client that syncs on and on.
final class SyncClient {
  let fixture: SyncFixture
  let user: UserID
  let device: DeviceID
  var filter: SyncFilter
  var since: SyncToken?

  init(_ fixture: SyncFixture, _ name: String, _ device: String, _ filter: SyncFilter) {
    self.fixture = fixture
    self.filter = filter
    user = RoomsFixture.user(name)
    self.device = DeviceID(trusted: ByteString(device))
  }

  func request(timeout: Int64 = 0) -> SyncRequest {
    SyncRequest(userID: user, deviceID: device, since: since, timeoutMilliseconds: timeout, filter: filter)
  }

  /// Syncs and keeps the token.
  @discardableResult
  func sync(timeout: Int64 = 0, _ change: (inout SyncRequest) -> Void = { _ in }) async throws -> SyncAnswer {
    var request = request(timeout: timeout)
    change(&request)
    let answer = SyncAnswer(json: try JSON.parse(try await fixture.engine.sync(request)))
    since = answer.token
    return answer
  }
}

struct SyncAnswer: Sendable {
  let json: JSON

  var token: SyncToken? { json["next_batch"]?.text.flatMap { SyncToken($0) } }
  func room(_ room: RoomID, _ section: StaticString = "join") -> RoomAnswer? {
    json["rooms"]?[section]?[room.text].map { RoomAnswer(json: $0) }
  }
  /// Nothing but the token and the counts of keys.
  var isIdle: Bool {
    json["rooms"] == nil && json["account_data"] == nil && json["to_device"] == nil && json["device_lists"] == nil
  }
  var toDevice: [String] { json["to_device"]?["events"]?.elements.compactMap { $0["content"]?["n"]?.string } ?? [] }
}

struct RoomAnswer: Sendable {
  let json: JSON

  var timeline: [JSON] { json["timeline"]?["events"]?.elements.map { $0 } ?? [] }
  var eventIDs: [EventID] { timeline.compactMap { EventID($0["event_id"]) } }
  var bodies: [String] { timeline.compactMap { $0["content"]?["body"]?.string } }
  var isLimited: Bool { json["timeline"]?["limited"]?.bool ?? false }
  var previous: TimelineToken? { json["timeline"]?["prev_batch"]?.text.flatMap { TimelineToken($0) } }
  var state: [String] { Self.keys(json["state"]) }
  var stateAfter: [String] { Self.keys(json["state_after"]) }
  var typing: [String]? { ephemeral("m.typing")?["user_ids"]?.elements.compactMap(\.string) }
  var receipts: JSON? { ephemeral("m.receipt") }
  var unread: [Int64] {
    [
      json["unread_notifications"]?["notification_count"]?.integer ?? -1,
      json["unread_notifications"]?["highlight_count"]?.integer ?? -1
    ]
  }

  /// The memberships that the timeline gives a user, oldest first.
  func memberships(of user: String) -> [String] {
    timeline.filter { $0["type"]?.isString("m.room.member") ?? false && $0["state_key"]?.string == user }
      .compactMap { $0["content"]?["membership"]?.string }
  }

  func ephemeral(_ type: StaticString) -> JSON? {
    json["ephemeral"]?["events"]?.elements.first { $0["type"]?.isString(type) ?? false }?["content"]
  }

  /// `type|state key` in order.
  private static func keys(_ section: JSON?) -> [String] {
    section?["events"]?.elements.map { "\($0["type"]?.string ?? "")|\($0["state_key"]?.string ?? "")" }.sorted() ?? []
  }
}
