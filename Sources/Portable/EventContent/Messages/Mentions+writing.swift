import JSON
public import MatrixModel

extension Mentions {
  public var isEmpty: Bool { users.isEmpty && !room }

  /// Once; more than a message has room for are left out.
  public mutating func add(_ user: UserID) {
    if users.count < ContentLimits.mentions, !users.contains(user) { users.append(user) }
  }

  public mutating func formUnion(_ other: Mentions) {
    for user in other.users { add(user) }
    room = room || other.room
  }

  /// Those that were not mentioned before: an edit tells only them.
  package func subtracting(_ old: Mentions) -> Mentions {
    Mentions(users: users.filter { !old.users.contains($0) }, room: room && !old.room)
  }

  /// Writes `m.mentions`, even if empty, so that clients do not search the text for mentions. Users cannot mention themselves.
  package func writeMember(to writer: inout JSONWriter, without own: UserID) {
    writer.key("m.mentions")
    write(to: &writer, without: own)
  }

  package func write(to writer: inout JSONWriter, without own: UserID) {
    writer.object { writer in
      let named = users.filter { $0 != own }
      if !named.isEmpty {
        writer.key("user_ids")
        writer.array { writer in for user in named { writer.write(user) } }
      }
      if room { writer.member("room", true) }
    }
  }
}
