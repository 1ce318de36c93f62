import Database
import Glibc
import JSON
import MatrixModel
import RoomRules
import Telemetry
import Testing

@testable import CallServer
@testable import Homeserver
@testable import ServerAccounts
@testable import ServerCore
@testable import ServerRooms

/// What may take users out of calls is told to the call server, whichever node it happens at.
@Suite struct CallChangeTests {
  private let folder: String
  private let home: Homeserver
  /// Of a second node on the same database, which has not read the room.
  private let other: Rooms
  private let changes = [CallChanges(), CallChanges()]
  private static let ann = UserID(trusted: "@ann:example.org"), bob = UserID(trusted: "@bob:example.org")

  init() throws {
    var template = Array("/tmp/martlet-call-XXXXXX".utf8CString)
    folder = String(cString: mkdtemp(&template))
    home = try Homeserver(
      HomeserverConfiguration(serverName: ServerName(trusted: "example.org"), dataDirectory: folder), follower: changes[0],
      log: Log("test"))
    other = Rooms(
      home.configuration.rooms, database: home.database, notifier: Notifier(home.database),
      signingKey: try #require(SigningKey(seed: Array(0..<32), version: "test")), settings: home.rooms.settings,
      directory: home.rooms.directory, observers: [changes[1]])
    try home.database.writeBlocking { transaction in
      for user in [Self.ann, Self.bob] {
        try transaction.execute("INSERT INTO account(user_id, created, search_text) VALUES($1, 0, '')", user)
      }
    }
  }

  @Test func `changes of members and of power levels are told at both nodes, messages at none`() async throws {
    let (ann, bob) = (Rooms.Actor(userID: Self.ann, deviceID: nil), Rooms.Actor(userID: Self.bob, deviceID: nil))
    let body = try JSON.parse(Array(#"{"preset":"public_chat"}"#.utf8))
    let room = try await home.rooms.create(RoomCreation(body, defaultVersion: "12"), by: ann)
    let number = try #require(home.rooms.cache.cachedSnapshot(of: room)).number
    try await home.rooms.join(room, by: bob)
    let message = try JSON.parse(Array(#"{"msgtype":"m.text","body":"1"}"#.utf8))
    _ = try await home.rooms.send(.message, message, to: room, by: bob, transactionID: TransactionID(trusted: "1"))
    let levels = try JSON.parse(Array(#"{"users":{"@bob:example.org":50}}"#.utf8))
    _ = try await home.rooms.setState(.powerLevels, "", levels, in: room, by: ann)
    try await home.rooms.kick(Self.bob, from: room, by: ann)
    #expect(other.cache.cachedSnapshot(of: room) == nil)
    for changes in changes {
      changes.finish()
      var told: [String] = []
      for await change in changes.stream {
        switch change {
        case .member(let user, number): told.append("\(user)")
        case .powerLevels(number): told.append("power levels")
        default: told.append("something else")
        }
      }
      #expect(told == ["power levels", "@ann:example.org", "@bob:example.org", "power levels", "@bob:example.org"])
    }
    await home.shutdown()
  }
}
