import Database
import JSON
import MatrixModel
import Synchronization
import Telemetry
import Testing

@testable import Homeserver
@testable import ServerAccounts
@testable import ServerCore
@testable import ServerRooms

/// Whole servers one after the other on one folder, as restarts make them.
@Suite struct AdministrationTaskTests {
  private final class Machine: Sendable {
    let folder = TemporaryFolder()
    let time = Atomic<Int64>(1_700_000_000_000)

    func start(keepsAuditMilliseconds: Int64? = nil) throws -> Homeserver {
      var configuration = HomeserverConfiguration(serverName: ServerName(trusted: "example.org"), dataDirectory: folder.path)
      configuration.clock = WallClock { self.time.load(ordering: .relaxed) }
      configuration.passwordHashMemoryBytes = 8_192
      configuration.passwordHashIterations = 1
      configuration.auditLifetimeMilliseconds = keepsAuditMilliseconds
      return try Homeserver(configuration, log: Log("test"))
    }
  }

  private static let admin = Administrator.operator(ServerName(trusted: "example.org"))

  private static func bodies(_ homeserver: Homeserver, of user: UserID) async throws -> [String] {
    try await homeserver.database.read { tx in
      try tx.all(
        """
        SELECT e.shared FROM notice_room n JOIN room r ON r.room_id = n.room_id
          JOIN event e ON e.room = r.room AND e.type = 'm.room.message'
        WHERE n.user_id = $1 ORDER BY e.position
        """, user
      ) { try JSON.parse([UInt8(ascii: "{")] + $0.blob(0) + [UInt8(ascii: "}")])["content"]?["body"]?.string ?? "" }
    }
  }

  @Test func `a broadcast goes on after every restart, and nobody gets it twice`() async throws {
    let machine = Machine()
    var homeserver = try machine.start()
    var users: [UserID] = []
    for number in 0..<60 {
      users.append(try await homeserver.accounts.create(NewAccount(ByteString("user\(number)")), password: nil).userID)
    }
    let content = try JSON.object { writer in
      writer.member("msgtype", "m.text")
      writer.member("body", "to all")
    }
    let id = try await homeserver.serverNotices.startBroadcast(try .init(.message, content), by: Self.admin)
    var restarts = 0
    while try await homeserver.administrationTasks.task(id).state == .active, restarts < 200 {
      // Wherever the commits are by now, the server stops.
      let reached = try await homeserver.administrationTasks.task(id).done
      while try await homeserver.administrationTasks.task(id).done < min(reached + 4, 60) { await Task.yield() }
      await homeserver.shutdown()
      homeserver = try machine.start()
      restarts += 1
      if restarts == 1 {
        // Too late for this one.
        machine.time.store(1_700_000_000_001, ordering: .relaxed)
        _ = try await homeserver.accounts.create(NewAccount("late"), password: nil)
      }
      try await homeserver.administrationTasks.resume()
      try await homeserver.administrationTasks.resume()
    }
    await homeserver.administrationTasks.settle()
    let task = try await homeserver.administrationTasks.task(id)
    #expect(task.state == .complete && task.done == 60 && task.total == 60)
    #expect(restarts > 3)
    for user in users { #expect(try await Self.bodies(homeserver, of: user) == ["to all"], "\(user)") }
    #expect(try await Self.bodies(homeserver, of: UserID(trusted: "@late:example.org")).isEmpty)
    await homeserver.shutdown()
  }

  @Test func `a room's deletion that was interrupted between its steps ends at the next start`() async throws {
    let machine = Machine()
    var homeserver = try machine.start()
    let ann = try await homeserver.accounts.create(NewAccount("ann"), password: nil).userID
    let creation = try RoomCreation(JSON.object { _ in }, defaultVersion: "12")
    let roomID = try await homeserver.rooms.create(creation, by: Rooms.Actor(userID: ann, deviceID: nil))
    let id = try await homeserver.roomAdministration.startDeletion(of: roomID, .init(), by: Self.admin)
    await homeserver.shutdown()
    homeserver = try machine.start()
    try await homeserver.administrationTasks.resume()
    await homeserver.administrationTasks.settle()
    let task = try await homeserver.administrationTasks.task(id)
    #expect(task.state == .complete)
    #expect(task.result?["kicked_users"]?.elements.compactMap { $0.string } == ["@ann:example.org"])
    await #expect(throws: MatrixError.self) { try await homeserver.roomAdministration.room(roomID) }
    await homeserver.shutdown()
  }

  @Test func `the same is not started twice, and what ended long ago is forgotten`() async throws {
    let machine = Machine()
    let homeserver = try machine.start()
    let tasks = homeserver.administrationTasks
    tasks.carryOut(.purgeHistory) { _ in
      try await Task.sleep(for: .seconds(3_600))
      return Array("{}".utf8)
    }
    let parameters = Array("{}".utf8)
    let id = try await tasks.start(.purgeHistory, of: "!a", by: Self.admin, parameters: parameters)
    await #expect(throws: MatrixError.self) {
      try await tasks.start(.purgeHistory, of: "!a", by: Self.admin, parameters: parameters)
    }
    for number in 1..<AdministrationTasks.activeLimit {
      _ = try await tasks.start(.purgeHistory, of: "!\(number)", by: Self.admin, parameters: parameters)
    }
    let refused = await #expect(throws: MatrixError.self) {
      try await tasks.start(.purgeHistory, of: "!b", by: Self.admin, parameters: parameters)
    }
    #expect(refused?.code == .limitExceeded)
    await tasks.shutdown()
    #expect(try await tasks.task(id).state == .active)
    _ = try await homeserver.database.write { tx in
      try tx.execute("UPDATE administration_task SET state = 'complete', finished = 5")
    }
    try await tasks.forgetOld()
    await #expect(throws: MatrixError.self) { try await tasks.task(id) }
    await homeserver.shutdown()
  }

  @Test func `the audit log names what was interrupted, and forgets what is too old`() async throws {
    struct PowerCut: Error {}
    let machine = Machine()
    let homeserver = try machine.start(keepsAuditMilliseconds: 1_000)
    let audit = homeserver.audit
    await #expect(throws: PowerCut.self) { try await audit.record("a.fails", of: "x", by: Self.admin) { throw PowerCut() } }
    let seen = try await audit.record("a.runs", of: "x", by: Self.admin) { try await audit.list(AuditLog.Query()) }
    #expect(seen.map(\.action) == ["a.runs", "a.fails"] && seen[0].outcome == nil && seen[1].outcome == "M_UNKNOWN")
    try await audit.forgetOld()
    #expect(try await audit.list(AuditLog.Query()).count == 2)
    machine.time.store(1_700_000_001_001, ordering: .relaxed)
    try await audit.record("a.new", of: String(repeating: "x", count: 2_000), by: Self.admin) {}
    try await audit.forgetOld()
    let left = try await audit.list(AuditLog.Query())
    #expect(left.map(\.action) == ["a.new"] && left[0].target.utf8.count == 512)
    await homeserver.shutdown()
  }
}
