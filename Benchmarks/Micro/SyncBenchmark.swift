import Database
import Glibc
import Homeserver
import JSON
import MatrixModel
import ServerCore
import ServerRooms
import ServerSync
import Telemetry

/// Processor time of syncs at the level of the domain, HTTP left out: an incremental sync without news, the delivery of one
/// message to each of 100 members, parked syncs' memory, and what a send costs in a room of 10,000 members. One line.
func benchmarkSync() async -> String {
  do {
    let bench = try await SyncBenchmark()
    let idle = try await bench.idle(syncs: 50_000)
    let fanOut = try await bench.fanOut(messages: 200)
    let parked = try await bench.parkedBytes(syncs: 5_000)
    let wide = try await bench.wideRoom(members: 10_000, messages: 100)
    await bench.homeserver.shutdown()
    bench.folder.remove()
    return """
      sync: no news \(tenths(idle)) us, delivery to one of 100 members \(tenths(fanOut)) us, \
      parked \(parked.parked) bytes (a sleeping task \(parked.sleeping)), send into 10,000 members \(tenths(wide)) us (1 member \(tenths(bench.narrowSend)) us)
      """
  } catch {
    return "sync: \(error)"
  }
}

private func tenths(_ microseconds: Double) -> Double { (microseconds * 10).rounded() / 10 }

private struct SyncBenchmark: Sendable {
  let homeserver: Homeserver
  let folder: BenchmarkFolder
  var narrowSend = 0.0
  private var room: RoomID
  private static let members = 100

  init() async throws {
    folder = try BenchmarkFolder("sync")
    let configuration = HomeserverConfiguration(
      serverName: ServerName(trusted: "example.org"), dataDirectory: folder.path)
    homeserver = try Homeserver(configuration, log: Log("benchmark"))
    room = RoomID(trusted: "")
    room = try await makeRoom(members: Self.members)
    let narrow = try await makeRoom(members: 1)
    narrowSend = try await sends(to: narrow, count: 300)
  }

  private static func user(_ number: Int) -> UserID { UserID(trusted: ByteString("@user\(number):example.org")) }

  private static func actor(_ number: Int) -> Rooms.Actor {
    Rooms.Actor(userID: user(number), deviceID: DeviceID(trusted: "DEVICE"))
  }

  private func makeRoom(members: Int) async throws -> RoomID {
    try await homeserver.database.write { transaction in
      for number in 0..<members {
        try transaction.execute(
          "INSERT INTO account(user_id, created, search_text) VALUES($1, 0, '') ON CONFLICT(user_id) DO NOTHING",
          Self.user(number).string)
      }
    }
    let body = try JSON.parse(Array(#"{"preset":"public_chat","name":"R"}"#.utf8))
    let room = try await homeserver.rooms.create(RoomCreation(body, defaultVersion: "12"), by: Self.actor(0))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 1..<max(members, 1) {
        if number > 64 { try await group.next() }
        group.addTask { [homeserver] in try await homeserver.rooms.join(room, by: Self.actor(number)) }
      }
      try await group.waitForAll()
    }
    return room
  }

  private func sends(to room: RoomID, count: Int) async throws -> Double {
    let content = try JSON.parse(Array(#"{"msgtype":"m.text","body":"hello there, this is a message"}"#.utf8))
    let before = Self.processorSeconds()
    for number in 0..<count {
      _ = try await homeserver.rooms.send(
        .message, content, to: room, by: Self.actor(0),
        transactionID: TransactionID(trusted: ByteString("s\(room)\(number)\(before)")))
    }
    return (Self.processorSeconds() - before) / Double(count) * 1e6
  }

  private func request(_ number: Int, since: SyncToken?, timeout: Int64 = 0) -> SyncRequest {
    SyncRequest(
      userID: Self.user(number), deviceID: DeviceID(trusted: "DEVICE"), since: since, timeoutMilliseconds: timeout)
  }

  private static func token(_ answer: [UInt8]) throws -> SyncToken? {
    try JSON.parse(answer)["next_batch"]?.text.flatMap { SyncToken($0) }
  }

  /// Microseconds of one sync that finds nothing.
  func idle(syncs: Int) async throws -> Double {
    let since = try Self.token(try await homeserver.sync.sync(request(1, since: nil)))
    _ = try await homeserver.sync.sync(request(1, since: since))
    let before = Self.processorSeconds()
    for _ in 0..<syncs { _ = try await homeserver.sync.sync(request(1, since: since)) }
    return (Self.processorSeconds() - before) / Double(syncs) * 1e6
  }

  /// Microseconds to answer one member's sync after one message, the message itself not counted.
  func fanOut(messages: Int) async throws -> Double {
    var tokens: [SyncToken?] = []
    for number in 0..<Self.members {
      tokens.append(try Self.token(try await homeserver.sync.sync(request(number, since: nil))))
    }
    var seconds = 0.0
    for _ in 0..<messages {
      _ = try await sends(to: room, count: 1)
      var answers: [[UInt8]] = []
      let before = Self.processorSeconds()
      for number in 0..<Self.members {
        answers.append(try await homeserver.sync.sync(request(number, since: tokens[number])))
      }
      seconds += Self.processorSeconds() - before
      for number in 0..<Self.members { tokens[number] = try Self.token(answers[number]) }
    }
    return seconds / Double(messages * Self.members) * 1e6
  }

  /// Resident bytes of one parked sync with its task, and of a task that only sleeps.
  func parkedBytes(syncs: Int) async throws -> (parked: Int, sleeping: Int) {
    let since = try Self.token(try await homeserver.sync.sync(request(1, since: nil)))
    _ = try await homeserver.sync.sync(request(1, since: since))
    // Both kinds stay until both are counted: memory that is given back would be counted for none.
    let before = Self.residentBytes()
    let sleeping = (0..<syncs).map { _ in Task { try await Task.sleep(for: .seconds(60)) } }
    try await Task.sleep(for: .milliseconds(500))
    let between = Self.residentBytes()
    let parked = (0..<syncs).map { _ in
      Task { [homeserver] in _ = try await homeserver.sync.sync(request(1, since: since, timeout: 60_000)) }
    }
    try await Task.sleep(for: .milliseconds(500))
    let after = Self.residentBytes()
    for task in sleeping + parked { task.cancel() }
    for task in sleeping + parked { _ = await task.result }
    return ((after - between) / syncs, (between - before) / syncs)
  }

  /// Microseconds of one send into a room of many, a hundred of whom sync.
  func wideRoom(members: Int, messages: Int) async throws -> Double {
    let wide = try await makeRoom(members: members)
    for number in 0..<Self.members { _ = try await homeserver.sync.sync(request(number, since: nil)) }
    return try await sends(to: wide, count: messages)
  }

  private static func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }

  private static func residentBytes() -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 128)
    guard fgets(&line, 128, file) != nil else { return 0 }
    let fields = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(
      separator: " ")
    return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * 4096
  }
}
