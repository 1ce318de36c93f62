import Database
import Glibc

/// Appends events to a fresh database with 1, 16 and 128 callers that each wait for the durable commit (synchronous FULL)
/// before their next event, `seconds` in all. Each event is what a sent message costs: a 720-byte event, the room's
/// position, the transaction ID. One line: events per second, median and 99th percentile of the wait, by callers.
func benchmarkAppend(seconds: Double) async -> String {
  var figures: [String] = []
  for clients in [1, 16, 128] {
    do {
      figures.append(try await AppendBenchmark(clients: clients).run(seconds: seconds / 3))
    } catch {
      figures.append("\(clients) clients: \(error)")
    }
  }
  return "append: " + figures.joined(separator: ", ")
}

private struct AppendBenchmark {
  let clients: Int
  private static let rooms: UInt64 = 1_000
  private static let migration = Migration(
    version: 1, name: "append",
    statements: [
      """
      CREATE TABLE event(position INTEGER PRIMARY KEY, room INTEGER NOT NULL, id_hash INTEGER NOT NULL,
        id TEXT NOT NULL, json BLOB NOT NULL) STRICT
      """,
      "CREATE INDEX event_room ON event(room, position)",
      "CREATE INDEX event_id_hash ON event(id_hash)",
      "CREATE TABLE room(id INTEGER PRIMARY KEY, position INTEGER NOT NULL) STRICT",
      """
      CREATE TABLE sent(device INTEGER NOT NULL, id TEXT NOT NULL, position INTEGER NOT NULL,
        PRIMARY KEY (device, id)) STRICT, WITHOUT ROWID
      """
    ])

  func run(seconds: Double) async throws -> String {
    let folder = try BenchmarkFolder("append")
    defer { folder.remove() }
    let database = try Database(DatabaseConfiguration(path: folder.path + "/martlet.db"), migrations: [Self.migration])
    defer { database.close() }
    let clock = ContinuousClock()
    let started = clock.now
    let processorBefore = Self.processorSeconds()
    let end = started + .seconds(seconds)
    var waits = try await withThrowingTaskGroup(of: [Duration].self) { group in
      for client in 0..<clients {
        group.addTask { try await Self.append(as: client, to: database, until: end) }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    let elapsed = (clock.now - started) / .seconds(1)
    let processor = Self.processorSeconds() - processorBefore
    waits.sort()
    let statistics = database.statistics
    return """
      \(clients) clients \(Int(Double(waits.count) / elapsed)) ev/s \
      p50 \(Self.microseconds(waits, 0.5)) us p99 \(Self.microseconds(waits, 0.99)) us \
      (\(Int(processor / Double(waits.count) * 1e6)) us CPU/ev, \(statistics.writes / max(1, statistics.commits)) a commit)
      """
  }

  private static func append(as client: Int, to database: Database, until end: ContinuousClock.Instant) async throws
    -> [Duration]
  {
    let clock = ContinuousClock()
    let json = [UInt8](repeating: UInt8(ascii: "x"), count: 720)
    var random = SystemRandomNumberGenerator()
    var waits: [Duration] = []
    var number = 0
    var now = clock.now
    while now < end {
      let hash = Int64(truncatingIfNeeded: random.next())
      let skew = Double(random.next() >> 11) / 0x1p53
      let room = Int64(skew * skew * skew * Double(rooms))
      let transactionID = "m\(number)"
      number += 1
      try await database.write { transaction in
        let position = transaction.nextPosition()
        let known = try transaction.first(
          "SELECT position FROM sent WHERE device = $1 AND id = $2", client, transactionID
        ) { $0.integer(0) }
        guard known == nil else { return }
        try transaction.execute(
          "INSERT INTO event(position, room, id_hash, id, json) VALUES ($1, $2, $3, $4, $5)",
          position, room, hash, "$0123456789abcdef0123456789abcdef0123456789a", json)
        try transaction.execute(
          "INSERT INTO room(id, position) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET position = excluded.position",
          room, position)
        try transaction.execute(
          "INSERT INTO sent(device, id, position) VALUES ($1, $2, $3)", client, transactionID, position)
      }
      let after = clock.now
      waits.append(after - now)
      now = after
    }
    return waits
  }

  private static func microseconds(_ sorted: [Duration], _ share: Double) -> Int {
    guard let last = sorted.indices.last else { return 0 }
    return Int(sorted[min(last, Int(Double(sorted.count) * share))] / .microseconds(1))
  }

  private static func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }
}
