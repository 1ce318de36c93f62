import JSON
import MatrixModel

/// Up to where the members of one room have read, sorted, so that how many have read an event is one search in it.
///
/// Of each member counts the furthest public receipt that covers the thread in question; private ones tell nobody anything.
/// About 8 bytes a member and thread asked for. A receipt costs two searches and the move of an array's part.
struct ReadIndex: Sendable {
  /// Positions of events, ascending, by thread (`main` for what is in none): one entry per member who has read anything.
  private var threads: [ByteString: [Int64]] = [:]
  private(set) var members: Set<UserID>
  /// Position of the room up to which `members` is right.
  var asOf: Int64

  /// Threads kept; beyond it all are sorted anew when asked for.
  private static let threadsLimit = 64

  init(members: Set<UserID>, asOf: Int64) {
    self.members = members
    self.asOf = asOf
  }

  /// How many members have read the event at `position`.
  mutating func readers(of position: Int64, in thread: ByteString, _ read: (UserID) -> ReadPositions) -> Int {
    if threads[thread] == nil {
      if threads.count >= Self.threadsLimit { threads = [:] }
      threads[thread] = members.compactMap { Self.entry(read($0), thread) }.sorted()
    }
    guard let positions = threads[thread] else { return 0 }
    return positions.count - Self.place(of: position, in: positions)
  }

  /// A member's receipts were `old` and are `new`.
  mutating func move(_ user: UserID, from old: ReadPositions, to new: ReadPositions) {
    guard members.contains(user) else { return }
    update(from: old, to: new)
  }

  /// Counts a user in or out, whose receipts are `read`.
  mutating func set(_ user: UserID, isMember: Bool, _ read: ReadPositions) {
    if isMember {
      if members.insert(user).inserted { update(from: ReadPositions(), to: read) }
    } else if members.remove(user) != nil {
      update(from: read, to: ReadPositions())
    }
  }

  private mutating func update(from old: ReadPositions, to new: ReadPositions) {
    for thread in threads.keys {
      let (before, after) = (Self.entry(old, thread), Self.entry(new, thread))
      guard before != after else { continue }
      if let before, let positions = threads[thread] {
        let place = Self.place(of: before, in: positions)
        if place < positions.count, positions[place] == before { threads[thread]?.remove(at: place) }
      }
      if let after, let positions = threads[thread] {
        threads[thread]?.insert(after, at: Self.place(of: after, in: positions))
      }
    }
  }

  /// nil where the member has read nothing.
  private static func entry(_ read: ReadPositions, _ thread: ByteString) -> Int64? {
    let position = max(read.all, read.threads[thread] ?? 0)
    return position > 0 ? position : nil
  }

  /// Index of the first entry that is `position` or more.
  private static func place(of position: Int64, in positions: [Int64]) -> Int {
    var (low, high) = (0, positions.count)
    while low < high {
      let middle = (low + high) / 2
      if positions[middle] < position { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
