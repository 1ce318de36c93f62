/// What clients do all day besides sending and syncing.
extension Bench {
  /// Many users enter one public room, each once; `ops` are the joins.
  func joinStorm() {
    let users = users(options.users + 1)
    let rooms = rooms(by: [users[0]])
    var path = Array("/_matrix/client/v3/join/".utf8)
    path.append(encoded: rooms[0])
    let measured = measure(concurrency: options.concurrency, operations: options.users) { connection, index, finish in
      connection.send(self.target.request("POST", path, token: users[index + 1].token, body: Array("{}".utf8))) {
        finish($0.status == 200)
      }
    }
    report(measured, ["\"concurrency\":\(options.concurrency)"])
  }

  /// Typing notices, on and off in turns; nobody is syncing.
  func typing() {
    let (users, room, _) = chat(events: 1)
    let measured = measure(concurrency: users.count, operations: options.operations) { connection, index, finish in
      let user = users[connection.slot]
      var path = self.roomPath(room, "typing")
      path.append(encoded: user.id)
      let body = index / users.count % 2 == 0 ? "{\"typing\":true,\"timeout\":20000}" : "{\"typing\":false}"
      connection.send(self.target.request("PUT", path, token: user.token, body: Array(body.utf8))) {
        finish($0.status == 200)
      }
    }
    report(measured, ["\"concurrency\":\(options.concurrency)"])
  }

  /// Each reader's receipt walks over the messages of a room, one by one.
  func receipts() {
    let (users, room, events) = chat(events: options.events)
    let total = users.count * events.count
    let measured = measure(concurrency: users.count, operations: total) { connection, index, finish in
      var path = self.roomPath(room, "receipt/m.read")
      path.append(encoded: events[index / users.count % events.count])
      let token = users[connection.slot].token
      connection.send(self.target.request("POST", path, token: token, body: Array("{}".utf8))) {
        finish($0.status == 200)
      }
    }
    report(measured, ["\"concurrency\":\(options.concurrency)"])
  }

  /// Messages from each sender to all devices of the next user.
  func toDevice() {
    let users = users(options.concurrency)
    let measured = measure(concurrency: users.count, operations: options.operations) { connection, index, finish in
      let receiver = users[(connection.slot + 1) % users.count]
      let path = "/_matrix/client/v3/sendToDevice/m.load/\(self.run)-\(index)"
      let body = "{\"messages\":{\"\(receiver.id)\":{\"*\":{\"text\":\"\(self.run) \(index)\"}}}}"
      connection.send(self.target.request("PUT", path, token: users[connection.slot].token, body: body)) {
        finish($0.status == 200)
      }
    }
    report(measured, ["\"concurrency\":\(options.concurrency)"])
  }

  /// Uploads of files that all differ, then downloads of them: two lines.
  func media() {
    let users = users(options.concurrency)
    let count = options.operations > 0 ? options.operations : 1000
    var names = [String](repeating: "", count: count)
    let filler = [UInt8](repeating: 0x61, count: max(0, options.bytes - 40))
    let uploads = measure(concurrency: users.count, operations: count) { connection, index, finish in
      var content = Array("\(self.run) \(index) ".utf8)
      while content.count < min(40, self.options.bytes) { content.append(0x20) }
      let request = self.target.request(
        "POST", Array("/_matrix/media/v3/upload?filename=load.bin".utf8), token: users[connection.slot].token,
        body: content + filler, type: "application/octet-stream")
      connection.send(request) { connection in
        names[index] = connection.body.string(named: "content_uri") ?? ""
        finish(connection.status == 200 && names[index].hasPrefix("mxc://"))
      }
    }
    let facts = ["\"concurrency\":\(options.concurrency)", "\"bytes\":\(options.bytes)"]
    uploads.report("media-upload", label: options.label, extra: facts)
    let downloads = measure(concurrency: users.count, operations: count) { connection, index, finish in
      let path = "/_matrix/client/v1/media/download/" + names[index].dropFirst(6)
      connection.send(self.target.request("GET", path, token: users[connection.slot].token)) { connection in
        finish(connection.status == 200 && connection.body.count == self.options.bytes)
      }
    }
    downloads.report("media-download", label: options.label, extra: facts)
  }

  /// The first request of simplified sliding sync (MSC4186): the newest 20 rooms with lazy members.
  func slidingSync() {
    let users = account()
    let path = "/_matrix/client/unstable/org.matrix.simplified_msc3575/sync?timeout=0"
    for repetition in 0..<options.repetitions {
      let body = """
        {"conn_id":"\(run)\(repetition)","lists":{"all":{"ranges":[[0,19]],"timeline_limit":20,"required_state":\
        [["m.room.name",""],["m.room.encryption",""],["m.room.member","$LAZY"],["m.room.member","$ME"]]}}}
        """
      var bytes = 0
      let measured = measure(concurrency: options.concurrency, operations: users.count) { connection, index, finish in
        connection.send(self.target.request("POST", path, token: users[index].token, body: body)) { connection in
          bytes += connection.body.count
          finish(connection.status == 200 && connection.body.string(named: "pos") != nil)
        }
      }
      let perSync = Double(bytes) / Double(max(1, measured.operations))
      report(
        measured,
        [
          "\"rooms\":\(options.rooms)", "\"room_events\":\(options.events)", "\"members\":\(options.members)",
          "\"bytes_per_sync\":\(perSync.fixed(0))", "\"concurrency\":\(options.concurrency)"
        ])
    }
  }

  /// One public room that every worker's user is in, with messages by the first of them.
  private func chat(events count: Int) -> (users: [User], room: String, events: [String]) {
    let users = users(options.concurrency)
    let rooms = rooms(by: [users[0]])
    join(Array(users.dropFirst()), to: rooms)
    var events = [String](repeating: "", count: count)
    prepare("fill room", count: count) { connection, index, finish in
      self.sendMessage(index, to: rooms[0], from: users[0], on: connection) { connection in
        events[index] = connection.body.string(named: "event_id") ?? ""
        finish(connection.status == 200)
      }
    }
    return (users, rooms[0], events)
  }

  /// `/rooms/{roomId}/REST/`
  func roomPath(_ room: String, _ rest: String) -> [UInt8] {
    var path = Array("/_matrix/client/v3/rooms/".utf8)
    path.append(encoded: room)
    path.append("/\(rest)/")
    return path
  }
}
