/// The scenarios in which each connection does one request after the other.
extension Bench {
  /// One public path, `/versions` unless `--path` names another: how fast the server and this program are at their fastest.
  func get() {
    let measured = measure(concurrency: options.concurrency, operations: options.operations) { connection, _, finish in
      connection.send(self.target.request("GET", self.options.path)) { finish($0.status == 200) }
    }
    report(measured, ["\"path\":\"\(options.path)\"", "\"concurrency\":\(options.concurrency)"])
  }

  /// Each sender in its own room, or all in one.
  func send(inOneRoom: Bool) {
    let senders = users(options.concurrency)
    let rooms = rooms(by: inOneRoom ? [senders[0]] : senders)
    if inOneRoom { join(Array(senders.dropFirst()), to: rooms) }
    let measured = measure(concurrency: senders.count, operations: options.operations) { connection, index, finish in
      let room = rooms[inOneRoom ? 0 : connection.slot]
      self.sendMessage(index, to: room, from: senders[connection.slot], on: connection) { finish($0.status == 200) }
    }
    report(measured, ["\"concurrency\":\(options.concurrency)"])
  }

  /// Incremental syncs that have nothing to say and do not wait.
  func syncWithoutNews() {
    let users = users(options.concurrency)
    var tokens = syncTokens(of: users, filter: Self.smallFilter)
    let measured = measure(concurrency: users.count, operations: options.operations) { connection, _, finish in
      let slot = connection.slot
      let path = self.syncPath(timeoutMilliseconds: 0, since: tokens[slot], filter: nil)
      connection.send(self.target.request("GET", path, token: users[slot].token)) { connection in
        guard connection.status == 200, let next = connection.body.string(named: "next_batch") else {
          return finish(false)
        }
        tokens[slot] = next
        finish(true)
      }
    }
    report(measured, ["\"concurrency\":\(options.concurrency)"])
  }

  static let smallFilter = "{\"room\":{\"timeline\":{\"limit\":1},\"state\":{\"lazy_load_members\":true}}}"

  /// First syncs of an account in many rooms, with the default filter and with lazy members. Each request has another user or
  /// another filter, so that no server answers it from a cache of answers.
  func initialSync() {
    let users = account()
    for repetition in 0..<options.repetitions {
      for isLazy in [false, true] { initialSync(as: users, isLazy: isLazy, repetition: repetition) }
    }
  }

  /// Users who are all in the same `--rooms` of `--events`; their creator is not among them.
  func account() -> [User] {
    let members = users(options.members)
    let key = "initial-sync-\(options.rooms)-\(options.events)-\(options.members)"
    var state = StateFile(path: options.state)
    if state.room(key) == nil {
      let rooms = rooms(by: Array(repeating: members[0], count: options.rooms))
      join(Array(members.dropFirst()), to: rooms)
      fill(rooms, members: members, eventsPerRoom: options.events)
      state.add(room: rooms[0], key: key)
    }
    return Array(members.dropFirst())
  }

  private func initialSync(as users: [User], isLazy: Bool, repetition: Int) {
    var bytes = 0
    var events = 0
    let lazy = isLazy ? "\"state\":{\"lazy_load_members\":true}," : ""
    let isPlain = !isLazy && repetition == 0
    let filter = isPlain ? nil : "{\"room\":{\(lazy)\"not_rooms\":[\"!none\(run)\(repetition):x\"]}}"
    let path = syncPath(timeoutMilliseconds: 0, since: nil, filter: filter)
    let measured = measure(concurrency: options.concurrency, operations: users.count) { connection, index, finish in
      connection.send(self.target.request("GET", path, token: users[index].token)) { connection in
        bytes += connection.body.count
        events += connection.body.count(of: Array("\"origin_server_ts\"".utf8))
        finish(connection.status == 200)
      }
    }
    let count = Double(max(1, measured.operations))
    report(
      measured,
      [
        "\"filter\":\"\(isLazy ? "lazy" : "default")\"", "\"rooms\":\(options.rooms)",
        "\"room_events\":\(options.events)",
        "\"members\":\(options.members)", "\"bytes_per_sync\":\((Double(bytes) / count).fixed(0))",
        "\"events_per_sync\":\((Double(events) / count).fixed(1))", "\"concurrency\":\(options.concurrency)"
      ])
  }

  /// Walks through a room's history backwards to its start; `ops` are the pages.
  func messages() {
    let members = users(max(1, options.members))
    let key = "messages-\(options.events)-\(members.count)"
    var state = StateFile(path: options.state)
    if state.room(key) == nil {
      let rooms = rooms(by: [members[0]])
      join(Array(members.dropFirst()), to: rooms)
      fill(rooms, members: members, eventsPerRoom: options.events)
      state.add(room: rooms[0], key: key)
    }
    let room = state.room(key) ?? ""
    var walks = (0..<options.concurrency).map { _ in HistoryWalk(left: options.repetitions) }
    let measured = measure(concurrency: options.concurrency, operations: .max) { connection, _, finish in
      let slot = connection.slot
      let path = walks[slot].path(room: room, limit: self.options.limit)
      connection.send(self.target.request("GET", path, token: members[slot % members.count].token)) { connection in
        let isGood = connection.status == 200
        if isGood { walks[slot].turnPage(connection.body) }
        finish(isGood, isLast: !isGood || walks[slot].left == 0)
      }
    }
    let events = walks.reduce(0) { $0 + $1.events }
    let perThousand = events > 0 ? measured.processorSeconds * 1000 / Double(events) : 0
    report(
      measured,
      [
        "\"events\":\(events)",
        "\"events_s\":\((Double(events) / measured.elapsedSeconds).fixed(1))", "\"room_events\":\(options.events)",
        "\"members\":\(members.count)", "\"limit\":\(options.limit)",
        "\"srv_cpu_per_1k_events\":\(perThousand.fixed(4))", "\"concurrency\":\(options.concurrency)"
      ])
  }

  func report(_ measurement: Measurement, _ extra: [String]) {
    measurement.report(options.scenario, label: options.label, extra: extra)
  }
}

/// One reader's way back through a room.
private struct HistoryWalk {
  /// Walks still to do.
  private(set) var left: Int
  private(set) var events = 0
  private var from: String?

  init(left: Int) { self.left = left }

  func path(room: String, limit: Int) -> [UInt8] {
    var path = Array("/_matrix/client/v3/rooms/".utf8)
    path.append(encoded: room)
    path.append("/messages?dir=b&limit=\(limit)")
    if let from {
      path.append("&from=")
      path.append(encoded: from)
    }
    return path
  }

  /// The room's start is where a page is empty or names no `end`.
  mutating func turnPage(_ body: [UInt8]) {
    let count = body.count(of: Array("\"origin_server_ts\"".utf8))
    events += count
    from = count > 0 ? body.string(named: "end") : nil
    if from == nil { left -= 1 }
  }
}
