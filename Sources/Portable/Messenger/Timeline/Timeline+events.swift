extension Timeline {
  /// Scrolling rests when nothing was scrolled for this long.
  private static var restMilliseconds: Int { 60 }
  /// Nothing is seen of what a page with drift lacks, so a finger may stand still for that long, and a slow page may be late.
  private static var settleMilliseconds: Int { 500 }

  func listen() {
    dom.on(parts.scroller, .scroll) { [self] in scrolled(to: $0.x) }
    dom.on(parts.scroller, .resize) { [self] in resized(width: $0.x, height: $0.y) }
    dom.on(parts.window, .resize) { [self] in rowsResized(to: $0.y) }
    dom.listen(parts.scroller, .click) { [self] in clicked($0) }
    dom.listen(parts.scroller, .contextMenu) { [self] event in
      guard let view = view(of: event.node) else { return .pass }
      // A finger that stays chooses as one that taps does.
      if selection != nil { return .preventDefault }
      return act(.menu(view.id, x: event.x, y: event.y)) ? .preventDefault : .pass
    }
    dom.listen(parts.scroller, .keyDown) { [self] in pressed($0) }
    dom.on(parts.scroller, .change) { [self] in changed($0) }
    dom.on(parts.scroller, .focus) { [self] in focused($0.node) }
    dom.on(parts.scroller, .pointerOver) { [self] in showTools(at: $0.node) }
    if options.actions.contains(.reply) {
      dom.on(parts.scroller, .swipe) { [self] in
        if selection == nil, let view = view(of: $0.node) { act(.reply(view.id)) }
      }
    }
    dom.on(parts.scroller, .blur) { [self] _ in focusedNode = .none }
    dom.on(parts.jump, .click) { [self] _ in
      if geometry.hasEnd || !act(.jumpToEnd) { scrollToEnd() }
    }
  }

  private func scrolled(to top: Double) {
    let distance = (top - geometry.pageTop).magnitude
    // The page also tells of scrolling that came from here.
    if distance > 1 {
      dropGhosts()
      fling(distance)
    }
    geometry.scrolled(to: top)
    geometry.follows = geometry.isNearEnd
    if geometry.follows { newMessageCount = 0 }
    guard store.count > 0 else { return report() }
    // Being near the end is not yet a reason to move the reader there: only new rows are.
    let index = geometry.anchorRow()
    if isPassing, geometry.distanceToEnd > 1, geometry.distanceToStart > 1 {
      return parts.showPassing(options.dayLabel(store[index].row.timestampMilliseconds))
    }
    render(
      .anchor(Anchor(index: index, screenY: geometry.y(of: index) - geometry.scrollTop)),
      drifts: distance > 0 && !isFlung && options.after != nil)
    if geometry.drift != 0 { awaitRest() }
  }

  /// Where the viewport goes farther than its height, nothing rendered stays, and what is around it will hardly be seen: that waits for rest.
  /// Where it goes twice as far right after that, and then on, nobody can read what would be drawn, and that waits too.
  private func fling(_ distance: Double) {
    isPassing = isFlung && distance > (isPassing ? 1 : 2) * geometry.viewport
    isFlung = options.after != nil && distance > geometry.viewport
    if isFlung { awaitRest() }
  }

  /// Once nobody scrolls, the page gets the rows around the viewport, its true height and its true position.
  private func awaitRest() {
    scrollCount &+= 1
    let count = scrollCount
    options.after?(isFlung ? Timeline.restMilliseconds : Timeline.settleMilliseconds) { [self] in
      guard count == scrollCount else { return }
      isFlung = false
      isPassing = false
      if geometry.viewport > 0 { scrolled(to: geometry.pageTop) }
    }
  }

  private func resized(width: Double, height: Double) {
    guard width > 0, height > 0 else { return hidden() }
    guard width != geometry.width || height != geometry.viewport else { return }
    let (isFirst, wasHidden) = (geometry.width == 0, geometry.viewport == 0)
    let candidates = anchorCandidates()
    if width != geometry.width {
      layoutVersion &+= 1
      parts.isUnmeasured = true
      // Not a container query, which would cost each row that is drawn.
      dom.setFlag(root, "data-narrow", width <= RowTools.narrowWidth)
    }
    isDirty = true
    geometry.width = width
    geometry.viewport = height
    if isFirst {
      for index in 0..<store.count { geometry.heights.set(index, estimate(index)) }
    }
    if wasHidden { return render(pendingAim(), mustScroll: true) }
    finish(Transaction(candidates: candidates))
  }

  /// Not displayed (another screen is shown): nothing can be measured, so nothing is rendered until it is back.
  private func hidden() {
    guard geometry.viewport > 0 else { return }
    pendingPosition = readingPosition
    geometry.viewport = 0
  }

  /// Where the reader was, or wanted to be, while there was nothing to render into.
  private func pendingAim() -> Aim {
    guard let position = pendingPosition, let index = store.index(of: position.row) else {
      geometry.follows = geometry.hasEnd
      return .end
    }
    pendingPosition = nil
    return .anchor(Anchor(index: index, screenY: -position.offset))
  }

  /// Rows changed their height by themselves (a font came late): measure all that are rendered.
  private func rowsResized(to height: Double) {
    var known = 0.0
    for view in rendered { known += Double(geometry.heights.heights[view.index]) }
    let difference = height - known
    guard difference > 0.3 || difference < -0.3 else { return }
    let candidates = anchorCandidates()
    fresh = rendered
    finish(Transaction(candidates: candidates))
  }
}
