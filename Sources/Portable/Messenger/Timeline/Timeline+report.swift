extension Timeline {
  /// Tells the host what the reader sees and what is wanted. Comes last in a rendering: the host may change rows from here.
  func report() {
    guard geometry.viewport > 0 else { return }
    reportVisible()
    reportGaps()
    reportStart()
    reportEnd()
  }

  private func reportVisible() {
    guard let onVisible, let rows = visibleRows(), rows != reportedRows else { return }
    reportedRows = rows
    onVisible(rows)
  }

  /// Rows of which at least half is seen, or that fill at least half of the viewport.
  func visibleRows() -> VisibleRows? {
    guard store.count > 0 else { return nil }
    var highest: Int?
    var lowest = 0
    for index in geometry.range(overscan: 0) {
      guard let (y, height) = geometry.seen(index) else { continue }
      let seen = min(y + height, geometry.viewport) - max(y, 0)
      guard seen * 2 >= min(height, geometry.viewport) else { continue }
      if highest == nil { highest = index }
      lowest = index
    }
    guard let highest else { return nil }
    let (oldest, newest) = geometry.newestIsFirst ? (lowest, highest) : (highest, lowest)
    return VisibleRows(
      first: store[oldest].row.id, last: store[newest].row.id,
      isAtEnd: newest == newestIndex && geometry.distanceToEnd <= geometry.footHeight + geometry.followDistance)
  }

  private func reportGaps() {
    guard let onGapVisible, store.count > 0 else { return }
    var wanted: [RowID] = []
    for view in rendered where view.kind == .gap {
      guard case .gap(.idle) = store[view.index].row.content else { continue }
      guard geometry.seen(view.index) != nil else { continue }
      let version = store[view.index].version
      if askedGaps.contains(where: { $0.id == view.id && $0.version == version }) { continue }
      askedGaps.removeAll { $0.id == view.id }
      askedGaps.append((view.id, version))
      wanted.append(view.id)
    }
    for id in wanted { onGapVisible(id) }
  }

  /// The head prefetch: also when there is less than a viewport of rows, and whatever moved the reader there.
  private func reportStart() {
    guard head == .more(.idle), let onNearStart,
      geometry.distanceToStart - geometry.headHeight < options.leadViewports * geometry.viewport
    else { return }
    setHead(.more(.loading))
    onNearStart()
  }

  /// The tail prefetch. A reader who was sent to the middle is not taken along: what comes stands below.
  private func reportEnd() {
    guard tail == .more(.idle), let onNearEnd,
      geometry.distanceToEnd - geometry.footHeight < options.leadViewports * geometry.viewport
    else { return }
    setTail(.more(.loading))
    onNearEnd()
  }
}
