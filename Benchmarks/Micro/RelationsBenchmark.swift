import Database
import Glibc
import Homeserver
import JSON
import MatrixModel
import ServerDirectory
import ServerRooms
import Telemetry

/// Processor time of what relations and search add, at the level of the domain: a send with the indexing it causes, a page of
/// messages without and with relations, searches in a room of `events` messages, counts of readers among 10,000 members.
func benchmarkRelations(events: Int) async -> String {
  do {
    let bench = try RelationsBenchmark()
    defer { bench.folder.remove() }
    let sends = try await bench.sends()
    let pages = try await bench.pages()
    let search = try await bench.searches(events: events)
    let counts = try await bench.readCounts(members: 10_000)
    await bench.homeserver.shutdown()
    return "relations: " + [sends, pages, search, counts].joined(separator: "; ")
  } catch {
    return "relations: \(error)"
  }
}

private struct RelationsBenchmark: Sendable {
  let homeserver: Homeserver
  let folder: BenchmarkFolder
  private static let me = UserID(trusted: "@user0:example.org")
  private static let actor = Rooms.Actor(userID: me, deviceID: DeviceID(trusted: "DEVICE"))

  init() throws {
    folder = try BenchmarkFolder("relations")
    let configuration = HomeserverConfiguration(serverName: ServerName(trusted: "example.org"), dataDirectory: folder.path)
    homeserver = try Homeserver(configuration, log: Log("benchmark"))
  }

  private func room() async throws -> RoomID {
    _ = try await homeserver.database.write { transaction in
      try transaction.execute(
        "INSERT INTO account(user_id, created, search_text) VALUES($1, 0, '') ON CONFLICT(user_id) DO NOTHING",
        Self.me.string)
    }
    let body = try JSON.parse(Array(#"{"preset":"public_chat"}"#.utf8))
    return try await homeserver.rooms.create(RoomCreation(body, defaultVersion: "12"), by: Self.actor)
  }

  private func send(_ body: String, to room: RoomID, _ number: Int, relation: String = "") async throws -> EventID {
    let content = try JSON.parse(Array(#"{"msgtype":"m.text","body":"\#(body)"\#(relation)}"#.utf8))
    return try await homeserver.rooms.send(
      .message, content, to: room, by: Self.actor,
      transactionID: TransactionID(trusted: ByteString("\(room)\(number)")))
  }

  // MARK: Sends

  func sends() async throws -> String {
    let room = try await room()
    let before = Self.processorSeconds()
    let count = 4_000
    for start in stride(from: 0, to: count, by: 16) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in start..<start + 16 {
          group.addTask { _ = try await send(Self.text(number), to: room, number) }
        }
        try await group.waitForAll()
      }
    }
    return "send \(Self.tenths((Self.processorSeconds() - before) / Double(count) * 1e6)) us CPU"
  }

  // MARK: Pages

  func pages() async throws -> String {
    let plain = try await room()
    let related = try await room()
    for number in 0..<200 {
      _ = try await send(Self.text(number), to: plain, number)
      let parent = try await send(Self.text(number), to: related, number)
      guard number % 10 == 0 else { continue }
      _ = try await send(
        "* new", to: related, 1_000 + number,
        relation: #","m.new_content":{"body":"new"},"m.relates_to":{"rel_type":"m.replace","event_id":"\#(parent)"}"#)
    }
    return "page of 50: \(try await page(of: plain)) us, in a room with 10 % edits \(try await page(of: related)) us"
  }

  private func page(of room: RoomID) async throws -> Double {
    let before = Self.processorSeconds()
    for _ in 0..<1_000 {
      _ = try await homeserver.rooms.messages(
        of: room, for: Self.me, from: nil, to: nil, .backward, limit: 50, EventFilter())
    }
    return Self.tenths((Self.processorSeconds() - before) / 1_000 * 1e6)
  }

  // MARK: Search

  func searches(events: Int) async throws -> String {
    let small = try await room()
    let large = try await room()
    for number in 0..<20 { _ = try await send(Self.text(number) + " needle", to: small, number) }
    let bytesBefore = Self.bytes(of: folder.path + "/martlet.db")
    let started = Self.processorSeconds()
    for start in stride(from: 0, to: events, by: 256) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in start..<min(start + 256, events) {
          let body = Self.text(number) + (number % 50_000 == 49_999 ? " needle" : "")
          group.addTask { _ = try await send(body, to: large, number) }
        }
        try await group.waitForAll()
      }
    }
    let filling = (Self.processorSeconds() - started) / Double(max(events, 1)) * 1e6
    let grown = Self.bytes(of: folder.path + "/martlet.db") - bytesBefore
    var figures: [String] = []
    for (name, text) in [("rare", "needle"), ("common", Self.words[0]), ("two", Self.words[5] + " " + Self.words[400])] {
      for order in ["rank", "recent"] {
        var times: [Double] = []
        for room in [small, large] {
          let request = try SearchRequest(
            try JSON.parse(
              Array(#"{"search_term":"\#(text)","order_by":"\#(order)","filter":{"rooms":["\#(room)"]}}"#.utf8)), nextBatch: nil
          )
          _ = try await homeserver.search.search(request, for: Self.me)
          let before = Self.processorSeconds()
          for _ in 0..<5 { _ = try await homeserver.search.search(request, for: Self.me) }
          times.append(Self.tenths((Self.processorSeconds() - before) / 5 * 1e3))
        }
        figures.append("\(name) by \(order) \(times[0]) ms, in the large room \(times[1]) ms")
      }
    }
    return "\(events) events at \(Self.tenths(filling)) us and \(grown / max(events, 1)) bytes each, search: "
      + figures.joined(separator: ", ")
  }

  // MARK: Readers

  func readCounts(members: Int) async throws -> String {
    let room = try await room()
    _ = try await homeserver.database.write { transaction in
      for number in 1..<members {
        try transaction.execute(
          "INSERT INTO account(user_id, created, search_text) VALUES($1, 0, '') ON CONFLICT(user_id) DO NOTHING",
          "@user\(number):example.org")
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 1..<members {
        if number > 64 { try await group.next() }
        group.addTask { try await homeserver.rooms.join(room, by: Rooms.Actor(userID: Self.user(number), deviceID: nil)) }
      }
      try await group.waitForAll()
    }
    var events: [EventID] = []
    for number in 0..<100 { events.append(try await send("m", to: room, number)) }
    let sent = events
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 1..<members {
        if number > 64 { try await group.next() }
        group.addTask {
          try await homeserver.receipts.move(.init(read: sent[number % 100]), of: Self.user(number), in: room)
        }
      }
      try await group.waitForAll()
    }
    let start = Self.processorSeconds()
    _ = try await homeserver.receipts.readCounts(of: [sent[0]], in: room, for: Self.me)
    let first = (Self.processorSeconds() - start) * 1e6
    let before = Self.processorSeconds()
    for number in 0..<2_000 {
      _ = try await homeserver.receipts.readCounts(of: [sent[number % 100]], in: room, for: Self.me)
    }
    let later = (Self.processorSeconds() - before) / 2_000 * 1e6
    return "readers of an event among \(members): first \(Self.tenths(first)) us, then \(Self.tenths(later)) us"
  }

  // MARK: Figures

  private static func user(_ number: Int) -> UserID { UserID(trusted: ByteString("@user\(number):example.org")) }

  /// Words of which the first are much more common than the last.
  private static let words = (0..<20_000).map { number in
    var rest = UInt64(number) &* 2_654_435_761 % 1_000_003
    var word = ""
    repeat {
      word.unicodeScalars.append(Unicode.Scalar(UInt8(ascii: "a") + UInt8(rest % 26)))
      rest /= 26
    } while rest > 0
    return word + (number % 3 == 0 ? "ing" : "er")
  }

  private static func text(_ number: Int) -> String {
    var state = UInt64(number) &* 0x9E37_79B9_7F4A_7C15 | 1
    return (0..<10).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let share = Double(state >> 11) / 0x1p53
      return words[Int(share * share * share * share * Double(words.count))]
    }.joined(separator: " ")
  }

  private static func tenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }

  private static func bytes(of path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  private static func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }
}
