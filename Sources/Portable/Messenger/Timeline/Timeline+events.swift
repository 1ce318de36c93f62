extension Timeline {
  func listen() {
    dom.on(parts.scroller, .scroll) { [self] in scrolled(to: $0.x) }
    dom.on(parts.scroller, .resize) { [self] in resized(width: $0.x, height: $0.y) }
    dom.on(parts.window, .resize) { [self] in rowsResized(to: $0.y) }
    dom.listen(parts.scroller, .click) { [self] in clicked($0.node) }
    dom.listen(parts.scroller, .contextMenu) { [self] event in
      guard let view = view(of: event.node) else { return .pass }
      return act(.menu(view.id, x: event.x, y: event.y)) ? .preventDefault : .pass
    }
    dom.listen(parts.scroller, .keyDown) { [self] in pressed($0) }
    dom.on(parts.jump, .click) { [self] _ in scrollToEnd() }
  }

  private func scrolled(to top: Double) {
    geometry.scrollTop = top
    geometry.follows = geometry.isNearEnd
    if geometry.follows { newMessageCount = 0 }
    guard store.count > 0 else { return report() }
    // Being near the end is not yet a reason to move the reader there: only new rows are.
    let index = geometry.anchorRow()
    render(.anchor(Anchor(index: index, screenY: geometry.y(of: index) - top)))
  }

  private func resized(width: Double, height: Double) {
    guard width > 0, height > 0 else { return hidden() }
    guard width != geometry.width || height != geometry.viewport else { return }
    let (isFirst, wasHidden) = (geometry.width == 0, geometry.viewport == 0)
    let candidates = anchorCandidates()
    if width != geometry.width {
      layoutVersion &+= 1
      parts.isUnmeasured = true
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
      geometry.follows = true
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

  // MARK: Acting

  func view(of element: Node) -> RowView? {
    for view in rendered where view.owns(element) { return view }
    return nil
  }

  private func act(_ action: TimelineAction) -> Bool { onAction?(action) ?? false }

  private func clicked(_ element: Node) -> EventReply {
    if element == parts.headRetry, element != .none {
      _ = act(.retryHead)
      return .pass
    }
    guard let view = view(of: element) else { return .pass }
    for link in view.links where link.node == element {
      return act(.openLink(view.id, url: link.url)) ? .preventDefault : .pass
    }
    switch Slot(rawValue: element.id - view.node.id) {
    case .retry: _ = act(view.kind == .gap ? .retryGap(view.id) : .retry(view.id))
    case .cancel: _ = act(.cancel(view.id))
    case .open, .picture, .fileName, .fileDetail, .progress, .progressBar:
      _ = act(view.kind == .image ? .openImage(view.id) : .openFile(view.id))
    case .avatar, .initials, .avatarImage, .name: _ = act(.openSender(view.id))
    default: break
    }
    return .pass
  }

  /// Between messages by keyboard, as the feed pattern wants it. Source: ARIA Authoring Practices, "Feed".
  private func pressed(_ event: PageEvent) -> EventReply {
    let key = event.key
    switch key {
    case .end where event.node == parts.scroller:
      scrollToEnd()
      return .preventDefault
    case .arrowUp where event.modifiers.contains(.alt), .arrowDown where event.modifiers.contains(.alt): break
    default: return .pass
    }
    guard store.count > 0 else { return .pass }
    let isUp: Bool
    if case .arrowUp = key { isUp = true } else { isUp = false }
    var index: Int
    if let view = view(of: event.node) {
      index = view.index + (isUp ? -1 : 1)
    } else {
      index = isUp ? geometry.row(at: geometry.scrollTop + geometry.viewport - 1) : geometry.anchorRow()
    }
    index = max(0, min(index, store.count - 1))
    let top = geometry.y(of: index)
    let bottom = top + Double(geometry.heights.heights[index])
    if top < geometry.scrollTop {
      scroll(to: store[index].row.id, place: .top)
    } else if bottom > geometry.scrollTop + geometry.viewport {
      scroll(to: store[index].row.id, place: .bottom)
    }
    for view in rendered where view.index == index { dom.focus(view.node) }
    dom.flush()
    return .preventDefault
  }
}
