import CCrypto

/// Registering, creating, joining, filling: what must be there before a scenario can be measured.
extension Bench {
  private static let password = "matrix-load-password"
  /// Makes a message about as long as people's messages are.
  private static let padding =
    "the quick brown fox jumps over the lazy dog and keeps on running until the end of the line"

  /// The first `count` users of the state file, those missing registered now.
  func users(_ count: Int) -> [User] {
    var state = StateFile(path: options.state)
    let known = state.users.count
    prepare("register users", count: count - known) { connection, index, finish in
      let name = "load\(self.run)x\(index)"
      self.register(name, on: connection) { user in
        if let user { state.add(user) }
        finish(user != nil)
      }
    }
    return Array(state.users.prefix(count))
  }

  private func register(_ name: String, on connection: Connection, finish: @escaping (User?) -> Void) {
    if !options.sharedSecret.isEmpty { return registerBySecret(name, on: connection, finish: finish) }
    requestRegistration(name, session: nil, on: connection, finish: finish)
  }

  /// Spec: Client-Server API, "User-Interactive Authentication API": a server that wants its session named is asked again.
  private func requestRegistration(
    _ name: String, session: String?, on connection: Connection, finish: @escaping (User?) -> Void
  ) {
    let named = session.map { ",\"session\":\"\($0)\"" } ?? ""
    let body =
      "{\"username\":\"\(name)\",\"password\":\"\(Self.password)\",\"auth\":{\"type\":\"m.login.dummy\"\(named)}}"
    connection.send(target.request("POST", "/_matrix/client/v3/register", body: body)) { connection in
      if connection.status == 401, session == nil, let session = connection.body.string(named: "session") {
        return self.requestRegistration(name, session: session, on: connection, finish: finish)
      }
      finish(Self.user(name, in: connection))
    }
  }

  /// Synapse's admin API: a nonce, then HMAC-SHA1 over nonce, name, password and role, joined by zero bytes.
  private func registerBySecret(_ name: String, on connection: Connection, finish: @escaping (User?) -> Void) {
    let path = "/_synapse/admin/v1/register"
    connection.send(target.request("GET", path)) { connection in
      guard connection.status == 200, let nonce = connection.body.string(named: "nonce") else { return finish(nil) }
      let message = Array([nonce, name, Self.password, "notadmin"].joined(separator: "\0").utf8)
      let key = Array(self.options.sharedSecret.utf8)
      var code = [UInt8](repeating: 0, count: 20)
      _ = HMAC(EVP_sha1(), key, Int32(key.count), message, message.count, &code, nil)
      let digits = code.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
      let body =
        "{\"nonce\":\"\(nonce)\",\"username\":\"\(name)\",\"password\":\"\(Self.password)\",\"admin\":false,\"mac\":\"\(digits)\"}"
      connection.send(self.target.request("POST", path, body: body)) { finish(Self.user(name, in: $0)) }
    }
  }

  private static func user(_ name: String, in connection: Connection) -> User? {
    guard connection.status == 200, let token = connection.body.string(named: "access_token"),
      let id = connection.body.string(named: "user_id")
    else { return nil }
    return User(name: name, token: token, id: id)
  }

  /// Public rooms, the room at each place made by the user at that place.
  func rooms(by creators: [User]) -> [String] {
    var rooms = [String](repeating: "", count: creators.count)
    prepare("create rooms", count: creators.count) { connection, index, finish in
      let body = "{\"preset\":\"public_chat\",\"name\":\"load \(self.run) \(index)\"}"
      let path = "/_matrix/client/v3/createRoom"
      connection.send(self.target.request("POST", path, token: creators[index].token, body: body)) { connection in
        rooms[index] = connection.status == 200 ? connection.body.string(named: "room_id") ?? "" : ""
        finish(!rooms[index].isEmpty)
      }
    }
    return rooms
  }

  func join(_ users: [User], to rooms: [String]) {
    prepare("join rooms", count: users.count * rooms.count) { connection, index, finish in
      var path = Array("/_matrix/client/v3/join/".utf8)
      path.append(encoded: rooms[index % rooms.count])
      let user = users[index / rooms.count]
      connection.send(self.target.request("POST", path, token: user.token, body: Array("{}".utf8))) {
        finish($0.status == 200)
      }
    }
  }

  /// Writes so many messages into each room, its members taking turns.
  func fill(_ rooms: [String], members: [User], eventsPerRoom: Int) {
    prepare("fill rooms", count: rooms.count * eventsPerRoom) { connection, index, finish in
      let sender = members[index / rooms.count % members.count]
      self.sendMessage(index, to: rooms[index % rooms.count], from: sender, on: connection) { finish($0.status == 200) }
    }
  }

  /// What the text of message number `sequence` of this run begins with, up to the number.
  var messageMark: [UInt8] { Array("load:\(run):".utf8) }

  func sendMessage(
    _ sequence: Int, to room: String, from user: User, on connection: Connection,
    finish: @escaping (Connection) -> Void
  ) {
    transactions += 1
    var path = Array("/_matrix/client/v3/rooms/".utf8)
    path.append(encoded: room)
    path.append("/send/m.room.message/\(run)-\(transactions)")
    let body = Array("{\"msgtype\":\"m.text\",\"body\":\"load:\(run):\(sequence): \(Self.padding)\"}".utf8)
    connection.send(target.request("PUT", path, token: user.token, body: body), completion: finish)
  }

  /// The sync token of each user, from a first sync that asks for as little as it can.
  func syncTokens(of users: [User], filter: String) -> [String] {
    var tokens = [String](repeating: "", count: users.count)
    prepare("first syncs", count: users.count) { connection, index, finish in
      let path = self.syncPath(timeoutMilliseconds: 0, since: nil, filter: filter)
      connection.send(self.target.request("GET", path, token: users[index].token)) { connection in
        tokens[index] = connection.status == 200 ? connection.body.string(named: "next_batch") ?? "" : ""
        finish(!tokens[index].isEmpty)
      }
    }
    return tokens
  }

  func syncPath(timeoutMilliseconds: Int, since: String?, filter: String?) -> [UInt8] {
    var path = Array("/_matrix/client/v3/sync?timeout=\(timeoutMilliseconds)".utf8)
    if let filter {
      path.append("&filter=")
      path.append(encoded: filter)
    }
    if let since {
      path.append("&since=")
      path.append(encoded: since)
    }
    return path
  }
}
