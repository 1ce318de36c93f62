import Database
import MatrixModel
import ServerRooms

/// Walks the matches of a search in its order until enough are visible and pass the filter.
struct MatchFinder {
  /// Matches that are compared by rank, the newest ones.
  static let rankedLimit = 1_000
  /// Matches looked at for one answer, when most are hidden or filtered out.
  static let scanLimit = 20_000
  /// Matches counted.
  static let countLimit = 1_000

  private(set) var found: [(event: StoredEvent, view: RoomView, rank: Int64)] = []
  /// Where to go on; nil where nothing is left.
  private(set) var next: SearchToken?
  private(set) var count = 0
  private(set) var query: FullTextQuery

  private let request: SearchRequest
  private let scope: SearchScope
  private let transaction: ReadTransaction
  private let ignored: Set<UserID>
  private let erasures: Erasures

  init(
    _ request: SearchRequest, _ scope: SearchScope, _ transaction: ReadTransaction, ignoring ignored: Set<UserID>,
    erasures: Erasures
  ) {
    self.erasures = erasures
    self.request = request
    self.scope = scope
    self.transaction = transaction
    self.ignored = ignored
    query = scope.query(request.text, matchesBeginnings: false)
  }

  mutating func run() throws {
    // Words that are found so often are looked for as they stand: what begins with them would be gathered from the whole index.
    try countAll()
    if count < Self.countLimit {
      query = scope.query(request.text, matchesBeginnings: true)
      try countAll()
    }
    switch request.order {
    case .recent: try findRecent()
    case .rank: try findRanked()
    }
    count = max(count, found.count)
  }

  private mutating func findRecent() throws {
    var events: [(event: StoredEvent, view: RoomView, rank: Int64)] = []
    var next: SearchToken?
    var scanned = 0
    var below = request.start?.below ?? .max
    try transaction.fullTextMatches(query, below: below, limit: Self.scanLimit) { match in
      scanned += 1
      if let (event, view) = try accept(match) {
        if events.count == request.limit {
          next = token(below: below)
          return false
        }
        events.append((event, view, 0))
      }
      below = match.document
      return true
    }
    if scanned == Self.scanLimit, next == nil { next = token(below: below) }
    found = events
    self.next = next
  }

  private mutating func findRanked() throws {
    var matches: [FullTextMatch] = []
    let below = request.start?.below ?? .max
    try transaction.fullTextMatches(query, below: below, limit: Self.rankedLimit, isRanked: true) { match in
      matches.append(match)
      return true
    }
    // What comes later does not move what an answer has told.
    let ceiling = request.start?.below ?? (matches.first.map { $0.document + 1 } ?? 0)
    matches.sort { $0.rank != $1.rank ? $0.rank > $1.rank : $0.document > $1.document }
    for (offset, match) in matches.enumerated().dropFirst(request.start?.offset ?? 0) {
      guard let (event, view) = try accept(match) else { continue }
      if found.count == request.limit {
        next = token(below: ceiling, offset: offset)
        return
      }
      found.append((event, view, match.rank))
    }
  }

  private func token(below: Int64, offset: Int = 0) -> SearchToken {
    SearchToken(order: request.order, below: below, offset: offset, group: request.start?.group)
  }

  private func accept(_ match: FullTextMatch) throws -> (StoredEvent, RoomView)? {
    guard let view = try scope.view(of: match, transaction),
      let event = try RoomLoader(transaction: transaction).event(at: match.document), event.redactedBecause == nil,
      request.types.contains(event.type), request.filter.matches(event), view.canSee(event),
      event.stateKey != nil || !ignored.contains(event.sender),
      try erasures.shown([event], to: view.user, in: view.room, { RoomLoader(transaction: transaction) }).first === event
    else { return nil }
    if let group = request.start?.group, group.grouping == .sender, group.value != event.sender.text { return nil }
    return (event, view)
  }

  /// An estimate: types, senders and the like are not looked at. What the user may not see does not count.
  private mutating func countAll() throws {
    var count = 0
    try transaction.fullTextMatches(query, below: .max, limit: Self.countLimit) { match in
      if try scope.view(of: match, transaction) != nil { count += 1 }
      return true
    }
    self.count = count
  }
}
