/// A row that a person saw before a transaction. Pixels below the viewport's top.
struct SeenRow {
  var id: RowID
  var y: Double
  var height: Double
  var author: Int32
  var hasAvatar: Bool
}

/// Motion that never touches heights: rows stand where they belong at once and appear to come from where they were. Only what is in view
/// moves. The style sheet has the times and keeps still for who wants no motion.
extension Timeline {
  /// More rows than this coming in at once are catching up, not news: they do not move.
  private static var enteringLimit: Int { 3 }
  /// How long a row that is gone is kept for its fading.
  private static var ghostMilliseconds: Int { 700 }

  func moves(_ motion: RowMotion) -> Bool { motion == .fade || motion == .slide }

  /// Remembers where what a person sees stands.
  func startMotion(_ transaction: inout Transaction) {
    dropGhosts()
    guard moves(transaction.motion), geometry.viewport > 0 else { return }
    for view in rendered {
      guard let (y, height) = geometry.seen(view.index) else { continue }
      let entry = store[view.index]
      transaction.seen.append(
        SeenRow(
          id: view.id, y: y, height: height, author: entry.author,
          hasAvatar: view.signature?.decor.contains(.avatar) ?? false))
    }
    leaving = transaction.seen
    leavingSlides = transaction.motion == .slide
  }

  func chooseEntering(_ transaction: Transaction) {
    enteringMotion = transaction.motion
    let isSeen = geometry.follows || moves(transaction.motion)
    if !isSeen || transaction.motion == .none || entering.count > Timeline.enteringLimit { entering.removeAll() }
  }

  /// What a row that comes in looks like. A message that joins a group waits until the group has grown.
  func enteringDecor(_ index: Int) -> Decor {
    switch enteringMotion {
    case .none: []
    case .rise: .entering
    case .fade: store[index].author != 0 && !decor(index).contains(.first) ? [.fading, .late] : .fading
    case .slide: .sliding
    }
  }

  /// Lets rows come from where they were, and avatars from the row that had them.
  func endMotion(_ transaction: Transaction) {
    leaving.removeAll()
    if geometry.viewport > 0 { stopUnseen() }
    guard !transaction.seen.isEmpty, geometry.viewport > 0 else { return }
    motionCount &+= 1
    for view in rendered {
      guard let (y, height) = geometry.seen(view.index), var decor = view.signature?.decor else { continue }
      let old = transaction.seen.first { $0.id == view.id }
      let shift = (old?.y ?? y) - y
      let glide = glide(view, bottom: y + height, old, transaction.seen)
      guard shift > 0.5 || shift < -0.5 || glide != 0 else { continue }
      if shift > 0.5 || shift < -0.5 { decor.insert(motionCount & 1 == 0 ? .shifted : .shiftedAgain) }
      if glide != 0 { decor.insert(.gliding) }
      dom.setVariable(view.node, "--mg-shift", shift)
      dom.setVariable(view.node, "--mg-glide", glide)
      dom.setClass(view.node, filler.classList(view.kind, decor))
    }
    for (view, y) in ghosts { dom.setLength(view.node, .translateY, y + geometry.pageTop) }
    dom.flush()
    if !ghosts.isEmpty { endGhosts() }
  }

  /// Lets what is gone fade; it has its whole time after whatever went last.
  func endGhosts() {
    ghostCount &+= 1
    let count = ghostCount
    options.after?(Timeline.ghostMilliseconds) { [self] in
      guard count == ghostCount else { return }
      dropGhosts()
      dom.flush()
    }
  }

  /// Rows that came in beyond what is in view do not move.
  private func stopUnseen() {
    for view in rendered where !view.entering.isEmpty && geometry.seen(view.index) == nil {
      view.entering = []
      view.signature?.decor = decor(view.index)
      dom.setClass(view.node, filler.classList(view.kind, decor(view.index)))
    }
  }

  /// How far the avatar of the group was from where it is now: another row had it.
  private func glide(_ view: RowView, bottom: Double, _ old: SeenRow?, _ seen: [SeenRow]) -> Double {
    guard options.avatars == .groupEnd, view.signature?.decor.contains(.avatar) == true, old?.hasAvatar != true else {
      return 0
    }
    let author = store[view.index].author
    for row in seen where row.hasAvatar && row.author == author {
      // It still has its own: another group.
      if let index = store.index(of: row.id), decor(index).contains(.avatar) { continue }
      return row.y + row.height - bottom
    }
    return 0
  }

  // MARK: Rows that go

  /// Keeps a row that was in view and is removed, as a picture of itself. False where it may simply go.
  func becomesGhost(_ view: RowView) -> Bool {
    guard options.after != nil, store.index(of: view.id) == nil, let decor = view.signature?.decor,
      let seen = leaving.first(where: { $0.id == view.id })
    else { return false }
    leaveFocus(view)
    let way = leavingSlides ? " mg-ghost mg-ghost-slides" : " mg-ghost"
    dom.remove(view.node)
    dom.setClass(view.node, dom.atom(decor.subtracting(.moving).classes + " " + view.kind.className + way))
    dom.setAttribute(view.node, "inert", "")
    dom.append(view.node, to: parts.ghosts)
    ghosts.append((view, seen.y))
    return true
  }

  func dropGhosts() {
    parts.dropTypists()
    guard !ghosts.isEmpty else { return }
    for (view, _) in ghosts {
      filler.empty(view)
      dom.release(view.node)
    }
    ghosts.removeAll()
  }
}
