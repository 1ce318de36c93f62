/// Choosing several messages: a press on a row chooses it or gives it up, with Shift all rows up to it. The keyboard does the
/// same with Enter and Space, and with Shift and the arrows. Escape ends it.
extension Timeline {
  /// Begins to choose rows with this one. Does nothing if it cannot be chosen.
  public func select(_ row: RowID) {
    guard canSelect(row) else { return }
    if selection == nil { selection = RowSelection(row) } else { selection?.toggle(row) }
    selectionChanged()
  }

  public func endSelection() {
    guard selection != nil else { return }
    selection = nil
    selectionChanged()
  }

  /// Gives the keyboard to the row that had it last, else to the list.
  public func takeFocus() { dom.focus(rendered.first { $0.id == focusedRow }?.node ?? parts.scroller) }

  /// The chosen rows, from the oldest to the newest.
  public var selectedRows: [RowID] {
    guard let selection else { return [] }
    return selection.rows.compactMap { row in store.index(of: row).map { (row, $0) } }.sorted { $0.1 < $1.1 }.map { $0.0 }
  }

  /// Messages that are there for everybody.
  func canSelect(_ row: RowID) -> Bool { store.index(of: row).map { canSelect(at: $0) } ?? false }

  func canSelect(at index: Int) -> Bool {
    guard case .message(let message) = store[index].row.content, message.sendState == .sent else { return false }
    if case .redacted = message.body { return false }
    return true
  }

  /// What a row looks like while rows are chosen.
  func selectionDecor(_ index: Int) -> Decor {
    guard let selection, canSelect(at: index) else { return [] }
    return selection.contains(store[index].row.id) ? [.selectable, .selected] : .selectable
  }

  // MARK: Choosing

  /// - Parameter isRange: all rows up to this one.
  func choose(_ row: RowID, isRange: Bool) {
    guard canSelect(row) else { return }
    if isRange {
      selection?.extend(to: row) { first, last in
        guard let one = store.index(of: first), let other = store.index(of: last) else { return [] }
        // From the anchor on, so that the nearest rows fit.
        let rows = (min(one, other)...max(one, other)).filter { canSelect(at: $0) }.map { store[$0].row.id }
        return one <= other ? rows : rows.reversed()
      }
    } else {
      selection?.toggle(row)
    }
    selectionChanged()
  }

  /// What is gone is not chosen any more.
  func pruneSelection() {
    guard let old = selection else { return }
    selection?.keep { canSelect($0) }
    if selection != old { tellSelection() }
  }

  private func selectionChanged() {
    tellSelection()
    finish(Transaction(candidates: anchorCandidates(), mode: geometry.follows ? .natural : .keepStable))
    dom.flush()
  }

  private func tellSelection() {
    if selection?.rows.isEmpty ?? false { selection = nil }
    dom.setFlag(root, "data-selecting", selection != nil)
    onSelection?(selection)
  }

  // MARK: Input

  /// A press while rows are chosen means the row, whatever in it was pressed.
  func clickedSelecting(_ event: PageEvent) -> EventReply {
    guard let view = view(of: event.node), view.kind == .message else { return .pass }
    choose(view.id, isRange: event.modifiers.contains(.shift))
    return .preventDefault
  }

  /// nil for a key that means nothing else while rows are chosen.
  func pressedSelecting(_ event: PageEvent, _ view: RowView?) -> EventReply? {
    switch event.key {
    case .escape:
      endSelection()
      return .preventDefault
    case .enter: break
    case .other where event.text.hasSameBytes(as: " "): break
    default: return nil
    }
    guard let view else { return .pass }
    choose(view.id, isRange: event.modifiers.contains(.shift))
    return .preventDefault
  }

  /// The keyboard went to another row with Shift.
  func walkedSelecting(_ event: PageEvent) {
    guard selection != nil, event.modifiers.contains(.shift), let focusedRow else { return }
    choose(focusedRow, isRange: true)
  }
}
