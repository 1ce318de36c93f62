extension Timeline {
  /// Measuring can uncover rows that must be rendered too; more rounds than this never happen with sane heights.
  private static var roundLimit: Int { 5 }

  /// Brings the page in line with rows and geometry; the aim is met by the measured heights, not by the estimates.
  /// With `drifts` what is in view keeps its place in the page, whatever is measured above it.
  func render(_ aim: Aim, mustScroll: Bool = false, drifts: Bool = false) {
    guard geometry.viewport > 0 else { return }
    isPassing = false
    let before = geometry.pageTop
    // While rows have their estimates the page may be too short for where it is scrolled to: measuring lets the browser move it up.
    var isMovedUp = false
    geometry.take(aim, drifts: drifts)
    for round in 0..<Timeline.roundLimit {
      reconcile(geometry.range(overscan: isFlung ? 0 : options.overscan))
      guard !fresh.isEmpty || parts.isUnmeasured || round == 0 else { break }
      parts.place(geometry, first: firstRendered)
      if geometry.lastPageTop < before - 0.25 { isMovedUp = true }
      guard measureFresh() else { break }
      geometry.take(aim, drifts: drifts)
    }
    parts.place(geometry, first: firstRendered)
    let moved = geometry.pageTop - before
    if mustScroll || isMovedUp || moved > 0.25 || moved < -0.25 { dom.setLength(parts.scroller, .scrollTop, geometry.pageTop) }
    parts.showJump(
      !geometry.follows && (newMessageCount > 0 || !geometry.hasEnd || geometry.distanceToEnd > geometry.viewport / 2),
      count: newMessageCount, options.phrases)
    parts.showPassing("")
    report()
  }

  /// Measures what is new in the page; false when nothing changed.
  private func measureFresh() -> Bool {
    let measuresParts = parts.isUnmeasured
    var nodes: [Node] = []
    nodes.reserveCapacity(fresh.count + 2)
    for view in fresh { nodes.append(view.node) }
    if measuresParts {
      nodes.append(parts.head)
      nodes.append(parts.foot)
    }
    guard !nodes.isEmpty else { return false }
    let measured = dom.measure(nodes)
    var changed = false
    for (index, view) in fresh.enumerated() where geometry.heights.set(view.index, measured[index]) != 0 {
      changed = true
    }
    if measuresParts {
      parts.isUnmeasured = false
      let (head, foot) = (Double(measured[fresh.count]), Double(measured[fresh.count + 1]))
      if head != geometry.headHeight || foot != geometry.footHeight { changed = true }
      geometry.headHeight = head
      geometry.footHeight = foot
    }
    fresh.removeAll(keepingCapacity: true)
    return changed
  }

  // MARK: Rows in the page

  /// Makes the rendered rows those of `range`: rows that stay keep their elements, wherever they move.
  private func reconcile(_ range: Range<Int>) {
    let isSame = range.lowerBound == firstRendered && range.count == rendered.count
    guard isDirty || !isSame else { return }
    var wanted = [RowView?](repeating: nil, count: range.count)
    var kept: [RowView] = []
    var leaving: [RowView] = []
    kept.reserveCapacity(rendered.count)
    for view in rendered {
      if let index = isDirty ? store.index(of: view.id) : view.index, range.contains(index),
        view.kind == RowKind(store[index].row.content)
      {
        view.index = index
        wanted[index - range.lowerBound] = view
        kept.append(view)
      } else {
        leaving.append(view)
      }
    }
    if kept.isEmpty { reuse(&leaving, for: range, &wanted, &kept) }
    for view in leaving { drop(view) }
    rendered.removeAll(keepingCapacity: true)
    firstRendered = range.lowerBound
    var next = Node.none
    for index in range.reversed() {
      let view: RowView
      if let known = wanted[index - range.lowerBound] {
        view = known
        if kept.last === known { kept.removeLast() } else { move(known, before: next, &kept) }
      } else {
        view = make(index)
        insert(view, before: next)
      }
      refresh(view)
      next = view.node
      rendered.append(view)
    }
    rendered.reverse()
    isDirty = false
    let count = head == .start && geometry.hasEnd ? store.count : -1
    for view in rendered { filler.number(view, of: count) }
  }

  /// When nothing stays, elements are filled anew where they stand: an element that leaves the page and comes back is
  /// styled and laid out from nothing.
  private func reuse(
    _ leaving: inout [RowView], for range: Range<Int>, _ wanted: inout [RowView?], _ kept: inout [RowView]
  ) {
    var dropped: [RowView] = []
    for (offset, view) in leaving.enumerated() {
      let index = range.lowerBound + offset
      guard index < range.upperBound, view.kind == RowKind(store[index].row.content) else {
        dropped.append(view)
        continue
      }
      if view.id == highlighted { highlighted = nil }
      leaveFocus(view)
      show(index, in: view)
      view.signature = nil
      wanted[offset] = view
      kept.append(view)
    }
    leaving = dropped
  }

  private func insert(_ view: RowView, before next: Node) {
    if next == .none {
      dom.append(view.node, to: parts.window)
    } else {
      dom.insert(view.node, into: parts.window, before: next)
    }
  }

  private func move(_ view: RowView, before next: Node, _ kept: inout [RowView]) {
    kept.removeAll { $0 === view }
    insert(view, before: next)
  }

  private func make(_ index: Int) -> RowView {
    let kind = RowKind(store[index].row.content)
    let view = pool[kind.rawValue].popLast() ?? RowView(node: dom.clone(templates[kind]), kind: kind)
    show(index, in: view)
    return view
  }

  private func show(_ index: Int, in view: RowView) {
    view.index = index
    view.id = store[index].row.id
    view.entering = entering.contains(view.id) ? enteringDecor(index) : []
  }

  /// Fills the row when what it shows is out of date.
  private func refresh(_ view: RowView) {
    let entry = store[view.index]
    var decor = decor(view.index)
    decor.formUnion(view.entering)
    if view.id == highlighted { decor.insert(.highlighted) }
    let signature = RowView.Signature(decor: decor, version: entry.version, layout: layoutVersion)
    guard view.signature != signature else { return }
    let focus = focusPath(in: view)
    filler.fill(view, entry.row, decor, context(view))
    view.signature = signature
    if let focus { restoreFocus(focus, in: view) }
    fresh.append(view)
  }

  private func context(_ view: RowView) -> PartContext {
    var context = PartContext(row: view.id, width: geometry.width, isRevealed: revealed.contains(view.id))
    if let playback, playback.row == view.id { context.playback = playback.state }
    return context
  }

  /// Takes a row out of the page and keeps its element for another.
  func drop(_ view: RowView) {
    if !leaving.isEmpty, becomesGhost(view) {
      fresh.removeAll { $0 === view }
      return
    }
    leaveFocus(view)
    filler.empty(view)
    if view.id == highlighted { highlighted = nil }
    fresh.removeAll { $0 === view }
    if pool[view.kind.rawValue].count < 48 {
      dom.remove(view.node)
      pool[view.kind.rawValue].append(view)
    } else {
      dom.release(view.node)
    }
  }
}
