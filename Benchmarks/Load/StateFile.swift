import Glibc

/// A registered user.
struct User {
  let name: String
  let token: String
  let id: String
}

/// Users and prepared rooms of earlier runs: lines of `user NAME TOKEN ID` and `room KEY ID`, appended as they are made.
struct StateFile {
  private let path: String
  private(set) var users: [User] = []
  private var rooms: [String: String] = [:]

  /// An empty path keeps nothing.
  init(path: String) {
    self.path = path
    guard !path.isEmpty, let file = fopen(path, "r") else { return }
    defer { fclose(file) }
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    while getline(&line, &capacity, file) > 0, let line {
      let words = String(cString: line).split(whereSeparator: { $0 == " " || $0 == "\n" }).map(String.init)
      if words.count == 4, words[0] == "user" { users.append(User(name: words[1], token: words[2], id: words[3])) }
      if words.count == 3, words[0] == "room" { rooms[words[1]] = words[2] }
    }
  }

  func room(_ key: String) -> String? { rooms[key] }

  mutating func add(_ user: User) {
    users.append(user)
    append("user \(user.name) \(user.token) \(user.id)\n")
  }

  mutating func add(room: String, key: String) {
    rooms[key] = room
    append("room \(key) \(room)\n")
  }

  private func append(_ line: String) {
    guard !path.isEmpty else { return }
    guard let file = fopen(path, "a") else { fail("cannot write \(path)") }
    fputs(line, file)
    fclose(file)
  }
}
