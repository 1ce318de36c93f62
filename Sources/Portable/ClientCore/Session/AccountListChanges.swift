/// Changes of a list that the account has for all of its devices, which wait for their turn. The list is read anew before it is changed,
/// and only one change is on its way at a time: what this device knows may be older than what another has written, or than its own last
/// change.
struct AccountListChanges<Change: Sendable>: Sendable {
  private var waiting: [(change: Change, command: CommandID)] = []
  /// Their list is being read or on its way to the server.
  private var begun: [CommandID] = []
  private var isUnderWay = false

  mutating func append(_ change: Change, _ command: CommandID) { waiting.append((change, command)) }

  /// Whether the list is to be read now.
  mutating func begin() -> Bool {
    guard !waiting.isEmpty, !isUnderWay else { return false }
    isUnderWay = true
    return true
  }

  /// The list has been read: all that waited until now goes into it, in order.
  mutating func take() -> [Change] {
    begun = waiting.map { $0.command }
    defer { waiting = [] }
    return waiting.map { $0.change }
  }

  /// Returns the commands of what was taken. Others may have come meanwhile.
  mutating func end() -> [CommandID] {
    isUnderWay = false
    defer { begun = [] }
    return begun
  }

  /// Returns all commands.
  mutating func endAll() -> [CommandID] {
    defer { self = AccountListChanges() }
    return begun + waiting.map { $0.command }
  }
}

extension Client {
  /// Nobody will hear of the end in this session.
  mutating func endListChanges() {
    let commands = directChanges.endAll() + ignoreChanges.endAll()
    if breadcrumbs.isUnderWay { breadcrumbs.isDirty = true }
    breadcrumbs.isUnderWay = false
    for command in commands { finish(command, .failed(.notSignedIn)) }
  }
}
