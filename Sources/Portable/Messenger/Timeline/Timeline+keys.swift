/// Moves the keyboard focus from message to message. A reader keeps their place when rows come and go.
/// Source: ARIA Authoring Practices, "Feed".
extension Timeline {
  func pressed(_ event: PageEvent) -> EventReply {
    guard event.modifiers.isDisjoint(with: [.control, .meta, .composing]) else { return .pass }
    let view = view(of: event.node)
    guard view != nil || event.node == parts.scroller else { return .pass }
    if selection != nil, let reply = pressedSelecting(event, view) { return reply }
    if view.map({ leavesArrows(event.node, in: $0) }) ?? true {
      switch event.key {
      case .arrowUp: return walk(by: -1, event)
      case .arrowDown: return walk(by: 1, event)
      case .home: return walk(to: 0)
      case .end: return walk(to: store.count - 1)
      default: break
      }
    }
    guard let view else { return .pass }
    let isInside = event.node != view.node
    switch event.key {
    case .enter:
      guard isInside else { return openMenu(view) }
      guard case (.spoiler, _)? = view.target(of: event.node) else { return .pass }
      _ = clicked(event)
      return .preventDefault
    case .escape:
      if !isInside { focusedRow = nil }
      dom.focus(isInside ? view.node : parts.scroller)
      dom.flush()
      return .preventDefault
    default:
      guard !isInside, walkedRow == view.id, !event.modifiers.contains(.alt),
        event.text.utf8.count == 1 || event.text.hasSameBytes(as: "Delete")
      else {
        return .pass
      }
      return act(.key(view.id, event.text)) ? .preventDefault : .pass
    }
  }

  /// Whether an element of a row has no use of its own for these keys: all but sliders, what scrolls, and what the host has drawn.
  private func leavesArrows(_ element: Node, in view: RowView) -> Bool {
    if let tools, dom.parent(of: dom.parent(of: element)) == tools.node { return true }
    guard let (target, _) = view.target(of: element) else { return view.node.id...view.node.id + Slot.last ~= element.id }
    if case .seek = target { return false }
    return true
  }

  private func openMenu(_ view: RowView) -> EventReply {
    let y = geometry.y(of: view.index) - geometry.scrollTop
    return act(.menu(view.id, x: geometry.width / 2, y: max(0, y))) ? .preventDefault : .pass
  }

  private func walk(by step: Int, _ event: PageEvent) -> EventReply {
    guard store.count > 0 else { return .pass }
    var place = step < 0 ? geometry.row(at: geometry.scrollTop + geometry.viewport - 1) : geometry.anchorRow()
    if let focusedRow, let index = store.index(of: focusedRow) { place = index + step }
    let reply = walk(to: place)
    walkedSelecting(event)
    return reply
  }

  private func walk(to wanted: Int) -> EventReply {
    guard store.count > 0 else { return .pass }
    let index = max(0, min(wanted, store.count - 1))
    let id = store[index].row.id
    let top = geometry.y(of: index)
    if index == newestIndex {
      scrollToEnd()
    } else if top < geometry.scrollTop {
      scroll(to: id, place: .top)
    } else if top + Double(geometry.heights.heights[index]) > geometry.scrollTop + geometry.viewport {
      scroll(to: id, place: .bottom)
    }
    for view in rendered where view.id == id { dom.focus(view.node) }
    focusedRow = id
    walkedRow = id
    dom.flush()
    return .preventDefault
  }

  // MARK: Who has the focus

  func focused(_ node: Node) {
    focusedNode = node
    focusedRow = view(of: node)?.id ?? focusedRow
    if focusedRow != walkedRow { walkedRow = nil }
    showTools(at: node)
  }

  /// Which control of the row has the focus, by number: the element may be made anew.
  func focusPath(in view: RowView) -> Int? {
    guard focusedNode != .none, focusedRow == view.id, view.signature != nil else { return nil }
    return view.controls.firstIndex(of: focusedNode)
  }

  func restoreFocus(_ path: Int, in view: RowView) {
    let controls = view.controls
    let node = controls.indices.contains(path) ? controls[path] : view.node
    if node != focusedNode { dom.focus(node) }
    focusedNode = node
  }

  /// The focus must not fall out of the page with a row that leaves it, nor pass to the row that takes its element.
  func leaveFocus(_ view: RowView) {
    leaveTools(view)
    guard focusedNode != .none, focusedRow == view.id else { return }
    dom.focus(parts.scroller)
    focusedNode = parts.scroller
  }
}
