/// A ceiling of rows: those far from the reader are let go, and the prefetch asks for them again when the reader comes near.
extension MessengerView {
  /// Called after rows came in.
  func trim() {
    guard let rowsLimit else { return }
    guard timeline.trim(to: max(rowsLimit, 1), oldest: onNeedOlder != nil, newest: onNeedNewer != nil) == .newest else {
      return
    }
    isBehind = true
  }

  /// What is new has no place while the newest rows are not here: it comes with them.
  func placed(_ changes: [RowChange]) -> [RowChange] {
    guard isBehind else { return changes }
    var placed: [RowChange] = []
    for change in changes {
      if case .append(let rows) = change { timeline.miss(rows) } else { placed.append(change) }
    }
    return placed
  }

  /// The oldest row that is here, what `onNeedOlder` goes on from; not one that stands beneath another.
  public var oldest: RowHandle? { end(timeline.oldestIndex) }
  /// The newest one, what `onNeedNewer` goes on from.
  public var newest: RowHandle? { end(timeline.newestIndex) }

  private func end(_ index: Int) -> RowHandle? {
    guard timeline.count > 0 else { return nil }
    return RowHandle(timeline.store[timeline.top(ofBlock: index)].row.id)
  }
}

/// An end of the conversation.
enum ListEnd {
  case oldest, newest
}

extension Timeline {
  var oldestIndex: Int { geometry.newestIsFirst ? store.count - 1 : 0 }

  /// Where there are more rows than `limit`, removes those farthest from the reader, down to four fifths of it; that end can be fetched
  /// again. What is left around the reader is more than a fetch would be begun for.
  /// - Returns: the end that is shorter now; nil when nothing was done.
  func trim(to limit: Int, oldest: Bool, newest: Bool) -> ListEnd? {
    guard store.count > limit, geometry.viewport > 0 else { return nil }
    let reach = (options.leadViewports + 1) * geometry.viewport
    let first = geometry.row(at: geometry.scrollTop - reach)
    let last = geometry.row(at: geometry.scrollTop + geometry.viewport + reach)
    // What is being fetched joins the rows that are here.
    let (oldest, newest) = (oldest && head != .more(.loading), newest && tail != .more(.loading))
    let (mayTop, mayBottom) = geometry.newestIsFirst ? (newest, oldest) : (oldest, newest)
    let (above, below) = (mayTop ? first : 0, mayBottom ? store.count - 1 - last : 0)
    let count = min(store.count - limit * 4 / 5, max(above, below))
    let isAbove = above >= below
    var range = isAbove ? 0..<count : store.count - count..<store.count
    // A message and its answers go together.
    if isAbove { range = 0..<top(ofBlock: count) }
    while !isAbove, !range.isEmpty, store[range.lowerBound].isAnswer { range = range.lowerBound + 1..<range.upperBound }
    guard !range.isEmpty else { return nil }
    let end: ListEnd = isAbove == geometry.newestIsFirst ? .newest : .oldest
    drop(range, at: end)
    return end
  }

  private func drop(_ range: Range<Int>, at end: ListEnd) {
    var transaction = Transaction(candidates: anchorCandidates(), motion: .none)
    for index in range.reversed() { perform(.remove(store[index].row.id), &transaction) }
    if end == .newest {
      take(.more(.idle))
    } else {
      head = .more(.idle)
      parts.showHead(head, options.phrases)
    }
    finish(transaction)
  }

  /// Tells of rows that come in where the list does not reach: who waits for the own ones is taken to the end of what is here.
  func miss(_ rows: [TimelineRow]) {
    var isOwn = false
    for row in rows {
      guard case .message(let message) = row.content else { continue }
      if message.sender.isOwn {
        isOwn = true
      } else {
        announce(message)
        newMessageCount += 1
      }
    }
    endStep()
    if isOwn { scrollToEnd() } else { finish(Transaction(candidates: anchorCandidates())) }
  }
}
