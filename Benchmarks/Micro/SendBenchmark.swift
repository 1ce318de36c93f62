import Glibc
import Homeserver
import JSON
import MatrixModel
import ServerRooms
import Synchronization
import Telemetry

/// Processor time of a message and of a receipt, at the level of the domain: `count` of each, one at a time and then sixteen in a commit.
func benchmarkSends(count: Int) async -> String {
  do {
    let bench = try await SendBenchmark()
    var figures: [String] = []
    for together in [1, 16] {
      figures.append(try await bench.measure("message, \(together) at a time", count, together) { _ = try await bench.send() })
    }
    var sent: [EventID] = []
    for _ in 0..<count { sent.append(try await bench.send()) }
    let next = Atomic<Int>(0)
    figures.append(
      try await bench.measure("receipt, one at a time", count, 1) { [sent] in
        try await bench.read(sent[next.wrappingAdd(1, ordering: .relaxed).oldValue])
      })
    await bench.end()
    return "send: " + figures.joined(separator: "; ")
  } catch {
    return "send: \(error)"
  }
}

private final class SendBenchmark: Sendable {
  private let homeserver: Homeserver
  private let folder: BenchmarkFolder
  private let room: RoomID
  private let requests = Atomic<Int>(0)
  private static let actor = Rooms.Actor(userID: UserID(trusted: "@user0:example.org"), deviceID: DeviceID(trusted: "DEVICE"))

  init() async throws {
    folder = try BenchmarkFolder("send")
    let configuration = HomeserverConfiguration(serverName: ServerName(trusted: "example.org"), dataDirectory: folder.path)
    homeserver = try Homeserver(configuration, log: Log("benchmark"))
    _ = try await homeserver.database.write { transaction in
      try transaction.execute("INSERT INTO account(user_id, created, search_text) VALUES($1, 0, '')", Self.actor.userID.string)
      try transaction.execute(
        "INSERT INTO device(user_id, device_id, display_name, created, last_seen) VALUES($1, 'DEVICE', '', 0, 0)",
        Self.actor.userID.string)
    }
    let body = try JSON.parse(Array(#"{"preset":"public_chat"}"#.utf8))
    room = try await homeserver.rooms.create(RoomCreation(body, defaultVersion: "12"), by: Self.actor)
  }

  func end() async {
    await homeserver.shutdown()
    folder.remove()
  }

  func send() async throws -> EventID {
    let number = requests.wrappingAdd(1, ordering: .relaxed).newValue
    let content = try JSON.parse(Array(#"{"msgtype":"m.text","body":"The swifts are back, number \#(number)."}"#.utf8))
    return try await homeserver.rooms.send(
      .message, content, to: room, by: Self.actor, transactionID: TransactionID(trusted: ByteString("m\(number)")))
  }

  func read(_ event: EventID) async throws {
    try await homeserver.receipts.move(.init(read: event), of: Self.actor.userID, in: room)
  }

  func measure(
    _ name: String, _ count: Int, _ together: Int, _ body: @escaping @Sendable () async throws -> Void
  ) async throws -> String {
    let before = Self.userSeconds()
    for _ in 0..<count / together {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<together { group.addTask { try await body() } }
        try await group.waitForAll()
      }
    }
    let microseconds = (Self.userSeconds() - before) / Double(count) * 1e6
    return "\(name) \((microseconds * 10).rounded() / 10) us"
  }

  /// Without the kernel's, which is files and their flushing.
  private static func userSeconds() -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return Double(usage.ru_utime.tv_sec) + Double(usage.ru_utime.tv_usec) * 1e-6
  }
}
