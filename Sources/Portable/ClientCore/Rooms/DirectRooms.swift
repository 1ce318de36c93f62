import JSON
import MatrixModel

/// The direct chats of the account. Spec: `m.direct`: user IDs with the rooms shared with each.
struct DirectRooms: Sendable {
  private var users: [UserID: [RoomID]] = [:]
  private var userOfRoom: [RoomID: UserID] = [:]
  /// Entries whose key is no user ID; they survive a change.
  private var foreign: [(key: ByteString, value: [UInt8])] = []

  init() {}

  init(content: JSON) {
    for member in content.members {
      guard let user = UserID(member.key) else {
        foreign.append((member.key, Array(member.value.bytes)))
        continue
      }
      var seen = Set(users[user] ?? [])
      for room in member.value.elements {
        guard let room = RoomID(room), seen.insert(room).inserted else { continue }
        users[user, default: []].append(room)
        userOfRoom[room] = user
      }
    }
  }

  func user(of room: RoomID) -> UserID? { userOfRoom[room] }
  func rooms(with user: UserID) -> [RoomID] { users[user] ?? [] }
  var roomIDs: Dictionary<RoomID, UserID>.Keys { userOfRoom.keys }

  mutating func remove(_ room: RoomID) {
    userOfRoom[room] = nil
    for user in Array(users.keys) {
      users[user]?.removeAll { $0 == room }
      if users[user]?.isEmpty ?? false { users[user] = nil }
    }
  }

  mutating func add(_ room: RoomID, with user: UserID) {
    if users[user]?.contains(room) ?? false { return }
    users[user, default: []].append(room)
    userOfRoom[room] = user
  }

  var content: [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      for entry in foreign {
        writer.key(entry.key)
        writer.raw(entry.value)
      }
      for user in users.keys.ordered() {
        writer.key(user)
        writer.array { writer in for room in users[user] ?? [] { writer.write(room) } }
      }
    }
    return writer.bytes
  }
}
