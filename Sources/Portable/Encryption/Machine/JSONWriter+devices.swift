import JSON
import MatrixModel

extension JSONWriter {
  /// `{user: {device: value}}`, as requests about devices have it. Users are in the order of their IDs.
  mutating func member<Entry>(
    _ key: StaticString, byDevice entries: [(user: UserID, device: DeviceID, value: Entry)],
    _ write: (Entry, inout JSONWriter) -> Void
  ) {
    var users: [UserID: [(device: DeviceID, value: Entry)]] = [:]
    for entry in entries { users[entry.user, default: []].append((entry.device, entry.value)) }
    self.key(key)
    object { writer in
      for user in users.keys.ordered() {
        writer.key(user)
        writer.object { writer in
          for entry in users[user] ?? [] {
            writer.key(entry.device)
            write(entry.value, &writer)
          }
        }
      }
    }
  }
}
