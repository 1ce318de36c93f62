/// A row that may serve as anchor, and where its ends stood: pixels below the viewport's top.
struct Candidate {
  var id: RowID
  var top: Double
  var bottom: Double
}

/// What a transaction has to remember between its first change and its rendering.
struct Transaction {
  /// Rows in view and where they stood, the preferred anchor first.
  var candidates: [Candidate]
  var mode = TransactionMode.natural
  var motion = RowMotion.rise
  /// What a person saw before, for rows to come from there.
  var seen: [SeenRow] = []
  /// Rows that came in and have no height yet.
  var inserted: [RowID] = []
  /// Messages that came in at the end.
  var appendedMessages: [MessageRow] = []
}

extension Timeline {
  /// The rows that may serve as anchor: those in view, first the one the geometry prefers.
  func anchorCandidates() -> [Candidate] {
    guard geometry.heights.count > 0, geometry.viewport > 0 else { return [] }
    noteUnseenScrolling()
    let preferred = geometry.anchorRow()
    let last = geometry.row(at: geometry.scrollTop + geometry.viewport)
    let first = geometry.row(at: geometry.scrollTop)
    var candidates: [Candidate] = []
    func add(_ index: Int) {
      let top = geometry.y(of: index) - geometry.scrollTop
      candidates.append(Candidate(id: store[index].row.id, top: top, bottom: top + Double(geometry.heights.heights[index])))
    }
    for index in preferred..<max(preferred, last) + 1 { add(index) }
    if first < preferred { add(first) }
    return candidates
  }

  /// A person may scroll between two frames, and the event for it comes only with the next one: what changes meanwhile must
  /// not take them back.
  private func noteUnseenScrolling() {
    let top = dom.scrollTop(of: parts.scroller)
    guard top - geometry.pageTop > 0.5 || geometry.pageTop - top > 0.5 else { return }
    geometry.scrolled(to: top)
    geometry.follows = geometry.isNearEnd
  }

  func perform(_ change: RowChange, _ transaction: inout Transaction) {
    switch change {
    case .append(let rows):
      noteAppended(rows, &transaction)
      put(rows, at: newestEdge, &transaction)
    case .prepend(let rows): put(rows, at: oldestEdge, &transaction)
    case .insert(let rows, let before):
      if let index = store.index(of: before) { put(rows, at: edge(of: index, isNewer: false), &transaction) }
    case .insertAfter(let rows, let after):
      if let index = store.index(of: after) { put(rows, at: edge(of: index, isNewer: true), &transaction) }
    case .update(let row):
      if let index = store.index(of: row.id) { replace(row, at: index) }
    case .updateContent(let id, let content):
      guard let index = store.index(of: id) else { return }
      var row = store[index].row
      row.content = content
      replace(row, at: index)
    case .replace(let old, let row):
      guard let index = store.index(of: old) else { return }
      // The new identity must not be there twice.
      if old != row.id, let twin = store.index(of: row.id) {
        replace(row, at: twin)
        remove(at: index)
        return
      }
      selection?.rename(old, row.id)
      for position in transaction.candidates.indices where transaction.candidates[position].id == old {
        transaction.candidates[position].id = row.id
      }
      for view in rendered where view.id == old {
        view.id = row.id
        if moves(transaction.motion) { view.entering = .fading }
      }
      replace(row, at: index)
    case .remove(let id):
      if let index = store.index(of: id) { remove(at: index) }
    }
  }

  func insert(_ rows: [TimelineRow], at index: Int, _ transaction: inout Transaction) {
    let count = store.insert(rows, at: index)
    guard count > 0 else { return }
    // Zero for now; estimated when the whole transaction is in, since neighbours decide what a row looks like.
    if count == 1, index == geometry.heights.count {
      geometry.heights.append(0)
    } else {
      geometry.heights.replaceSubrange(index..<index, with: [Float](repeating: 0, count: count))
    }
    for new in index..<index + count { transaction.inserted.append(store[new].row.id) }
    if moves(transaction.motion) { entering += transaction.inserted.suffix(count) }
  }

  private func replace(_ row: TimelineRow, at index: Int) { store.update(row, at: index) }

  private func remove(at index: Int) {
    beforeRemoval?(self, index)
    store.remove(at: index)
    geometry.heights.replaceSubrange(index..<index + 1, with: [])
  }

  private func noteAppended(_ rows: [TimelineRow], _ transaction: inout Transaction) {
    for row in rows where store.index(of: row.id) == nil {
      // What follows a place in the middle is no news.
      if geometry.hasEnd, case .message(let message) = row.content { transaction.appendedMessages.append(message) }
      if !moves(transaction.motion) { entering.append(row.id) }
    }
  }

  /// Heights for what came in, then one rendering with the viewport where the transaction wants it.
  func finish(_ transaction: Transaction) {
    pruneSelection()
    geometry.heights.settle()
    for id in transaction.inserted {
      if let index = store.index(of: id) { geometry.heights.set(index, estimate(index)) }
    }
    if transaction.mode != .natural { geometry.follows = false }
    countNew(transaction.appendedMessages, mayFollow: transaction.mode == .natural)
    isDirty = true
    chooseEntering(transaction)
    switch transaction.mode {
    case .none: render(.here)
    case .natural: render(geometry.follows ? .end : aim(transaction.candidates))
    case .keepStable: render(aim(transaction.candidates))
    }
    if transaction.mode != .natural { geometry.follows = geometry.isNearEnd }
    entering.removeAll()
    endMotion(transaction)
  }

  /// The first candidate that is still there and says the same as before. Where a date, the divider or a name comes or goes above it, its bottom
  /// is the hold for what is read. The top of any that is there if all others changed.
  private func aim(_ candidates: [Candidate]) -> Aim {
    var fallback: Aim?
    for candidate in candidates {
      guard let index = store.index(of: candidate.id) else { continue }
      let aim = Aim.anchor(Anchor(index: index, screenY: candidate.top))
      guard let before = rendered.first(where: { $0.id == candidate.id })?.signature else { return aim }
      if before.decor.symmetricDifference(decor(index)).isDisjoint(with: .heading) { return aim }
      if before.version == store[index].version, before.layout == layoutVersion {
        return .anchor(Anchor(index: index + 1, screenY: candidate.bottom))
      }
      fallback = fallback ?? aim
    }
    return fallback ?? .here
  }

  /// Own new messages take the reader to the end; others are counted while the reader is elsewhere.
  private func countNew(_ messages: [MessageRow], mayFollow: Bool) {
    for message in messages {
      if message.sender.isOwn {
        if message.sendState != .sent, mayFollow { geometry.follows = geometry.hasEnd }
      } else {
        announce(message)
        if !geometry.follows { newMessageCount += 1 }
      }
    }
    if geometry.follows { newMessageCount = 0 }
    if !messages.isEmpty { endStep() }
  }
}
