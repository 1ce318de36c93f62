import Synchronization

/// Those who follow commits, by the kinds of notes they want: what `Database.follow` adds to, from any thread.
final class CommitFollowers: Sendable {
  /// Components hold the database: it does not hold them.
  struct Entry: Sendable {
    weak var follower: (any CommitFollower)?
  }

  /// By kind.
  typealias Lists = [[Entry]]

  private let lists = Mutex<Lists>([])
  /// How often someone was added.
  private let additions = Atomic<Int>(0)

  func add(_ follower: any CommitFollower, to kinds: [UInt8]) {
    lists.withLock { lists in
      for kind in kinds.map(Int.init) {
        while lists.count <= kind { lists.append([]) }
        lists[kind].removeAll { $0.follower == nil }
        lists[kind].append(Entry(follower: follower))
      }
      additions.wrappingAdd(1, ordering: .releasing)
    }
  }

  /// Brings a copy up to date. `seen` is the count of additions that it has; it takes the lock only if there are more.
  func update(_ copy: inout Lists, seen: inout Int) {
    guard additions.load(ordering: .acquiring) != seen else { return }
    lists.withLock { lists in
      copy = lists
      seen = additions.load(ordering: .relaxed)
    }
  }
}

/// Tells followers of commits, on the writer thread, which has a copy of their lists: a note costs no lock.
struct CommitPublisher {
  private let followers: CommitFollowers
  private let rows: CommittedRows
  private var lists: CommitFollowers.Lists = []
  private var seen = 0
  /// Those who could not be reloaded.
  private var stale: [CommitFollowers.Entry] = []

  init(to followers: CommitFollowers, on connection: Connection) {
    self.followers = followers
    rows = CommittedRows(on: connection)
  }

  mutating func apply(_ notes: [any CommitNote]) {
    guard !(notes.isEmpty && stale.isEmpty) else { return }
    followers.update(&lists, seen: &seen)
    for entry in takeStale() { if let follower = entry.follower { reload(follower) } }
    for note in notes where Int(note.kindNumber) < lists.count {
      for entry in lists[Int(note.kindNumber)] {
        guard let follower = entry.follower else { continue }
        do { try follower.apply(note, rows) } catch { reload(follower) }
      }
    }
    rows.end()
  }

  func wake(_ notes: [any CommitNote]) {
    for note in notes where Int(note.kindNumber) < lists.count {
      for entry in lists[Int(note.kindNumber)] { entry.follower?.wake(note) }
    }
  }

  /// What anybody remembers may be wrong.
  mutating func reloadAll() {
    followers.update(&lists, seen: &seen)
    stale = []
    var reloaded: Set<ObjectIdentifier> = []
    for follower in lists.joined().compactMap(\.follower) where reloaded.insert(ObjectIdentifier(follower)).inserted {
      reload(follower)
    }
    rows.end()
  }

  private mutating func takeStale() -> [CommitFollowers.Entry] {
    defer { stale = [] }
    return stale
  }

  private mutating func reload(_ follower: any CommitFollower) {
    // What could not be read in this transaction may be read in another.
    rows.end()
    do { try follower.reload(rows) } catch { stale.append(CommitFollowers.Entry(follower: follower)) }
  }
}
