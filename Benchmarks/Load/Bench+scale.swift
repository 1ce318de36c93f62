/// Large rooms and many accounts: what a server must bear without its costs growing with them.
extension Bench {
  /// A room of `--members` with `--events`: one line each for sending, a sync that brings one message, a page of history, a
  /// page at the middle, the member list and a search. Run with few and with many, the lines show what grows.
  func room() {
    let members = users(max(2, options.members))
    let key = "room-\(members.count)-\(options.events)"
    var state = StateFile(path: options.state)
    if state.room(key) == nil {
      let rooms = rooms(by: [members[0]])
      join(Array(members.dropFirst()), to: rooms)
      fill(rooms, members: Array(members.prefix(16)), eventsPerRoom: options.events)
      state.add(room: rooms[0], key: key)
    }
    guard let room = state.room(key) else { fail("the room was not kept: --state is needed") }
    let scene = Scene(room: room, reader: members[1], writer: members[0])
    phase("room-send") { connection, index, finish in
      self.sendMessage(index, to: room, from: scene.writer, on: connection) { finish($0.status == 200) }
    }
    syncOneMessage(scene)
    phase("room-messages", get: "/_matrix/client/v3/rooms/ROOM/messages?dir=b&limit=50", scene)
    phase("room-members", get: "/_matrix/client/v3/rooms/ROOM/members?not_membership=leave", scene)
    phase("room-members-page", get: "/_matrix/client/unstable/martlet.paging/rooms/ROOM/members?limit=50", scene)
    phase("room-search") { connection, _, finish in
      let body = """
        {"search_categories":{"room_events":{"search_term":"fox jumps","order_by":"recent",\
        "filter":{"rooms":["\(room)"],"limit":10}}}}
        """
      let request = self.target.request("POST", "/_matrix/client/v3/search", token: scene.reader.token, body: body)
      connection.send(request) { finish($0.status == 200 && $0.body.string(named: "event_id") != nil) }
    }
  }

  private struct Scene {
    let room: String
    let reader: User
    let writer: User
  }

  /// A message by one, a sync of another that brings it: two requests an operation, of which the sync is the part that could grow.
  private func syncOneMessage(_ scene: Scene) {
    var token = syncTokens(of: [scene.reader], filter: Self.smallFilter)[0]
    phase("room-send-and-sync") { connection, index, finish in
      self.sendMessage(index, to: scene.room, from: scene.writer, on: connection) { connection in
        guard connection.status == 200 else { return finish(false) }
        let path = self.syncPath(timeoutMilliseconds: 0, since: token, filter: Self.smallFilter)
        connection.send(self.target.request("GET", path, token: scene.reader.token)) { connection in
          token = connection.body.string(named: "next_batch") ?? token
          finish(connection.status == 200 && connection.body.index(of: self.messageMark) != nil)
        }
      }
    }
  }

  private func phase(_ name: String, get path: String, _ scene: Scene) {
    var encoded: [UInt8] = []
    encoded.append(encoded: scene.room)
    let parts = path.split(separator: "ROOM", maxSplits: 1)
    let whole = Array(parts[0].utf8) + encoded + Array(parts[1].utf8)
    phase(name) { connection, _, finish in
      connection.send(self.target.request("GET", whole, token: scene.reader.token)) { finish($0.status == 200) }
    }
  }

  private func phase(_ name: String, _ operation: @escaping Operation) {
    let measured = measure(concurrency: 1, operations: options.operations > 0 ? options.operations : 100, operation)
    let facts = ["\"members\":\(options.members)", "\"room_events\":\(options.events)"]
    measured.report(name, label: options.label, extra: facts)
  }

  /// `--users` accounts in `--rooms` rooms of `--members` each, `--senders` of them holding a sync: the server's memory.
  func town() {
    let users = users(options.users)
    let rooms = rooms(by: (0..<options.rooms).map { users[$0 % users.count] })
    prepare("join rooms", count: options.rooms * (options.members - 1)) { connection, index, finish in
      let (room, member) = (index % rooms.count, index / rooms.count + 1)
      var path = Array("/_matrix/client/v3/join/".utf8)
      path.append(encoded: rooms[room])
      let user = users[(room + member * 7919) % users.count]
      connection.send(self.target.request("POST", path, token: user.token, body: Array("{}".utf8))) {
        finish($0.status == 200)
      }
    }
    prepare("fill rooms", count: options.rooms * options.events) { connection, index, finish in
      let room = index % rooms.count
      self.sendMessage(index, to: rooms[room], from: users[room % users.count], on: connection) {
        finish($0.status == 200)
      }
    }
    let syncing = Array(users.prefix(options.senders))
    let tokens = syncTokens(of: syncing, filter: "{}")
    let polls = LongPolls(bench: self, users: syncing, tokens: tokens, filter: "{}")
    polls.start()
    polls.settle(quietSeconds: 2, atMostSeconds: options.timeoutSeconds)
    let measured = Measurement(processes: options.processes)
    measured.start()
    prepareTalk(users, rooms, measured)
    measured.stop()
    polls.close()
    report(
      measured,
      [
        "\"users\":\(options.users)", "\"rooms\":\(options.rooms)", "\"members\":\(options.members)",
        "\"syncing\":\(syncing.count)", "\"poll_errors\":\(polls.errors)"
      ])
  }

  /// Another round of messages while everybody listens.
  private func prepareTalk(_ users: [User], _ rooms: [String], _ measured: Measurement) {
    prepare("talk", count: rooms.count * 5) { connection, index, finish in
      let start = monotonicSeconds()
      let room = index % rooms.count
      self.sendMessage(index, to: rooms[room], from: users[room % users.count], on: connection) { connection in
        if connection.status == 200 { measured.succeeded(after: monotonicSeconds() - start) }
        finish(connection.status == 200)
      }
    }
  }
}
