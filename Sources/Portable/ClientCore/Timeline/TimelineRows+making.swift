import JSON
import MatrixModel

/// Rows from items.
extension TimelineRows {
  /// The first item behind the read ones that is another's message.
  func markerIndex() -> Int? {
    guard let readUpTo, let read = index(of: readUpTo) else { return nil }
    return items[(read + 1)...].firstIndex { item in
      item.isMessage && item.sender != options.ownUserID && item.eventID != nil
    }
  }

  func makeRows(_ range: Range<Int>, marker: Int?) -> [Row] {
    var made: [Row] = []
    made.reserveCapacity(range.count)
    var run: [TimelineItem] = []
    for i in range {
      let item = items[i]
      let previous = lastDated(before: i)
      let day = newDay(item, after: previous)
      if day != nil || marker == i || !item.isState || !options.foldsStateChanges { flush(&run, &made) }
      if let day { made.append(.day(day, before: item.id)) }
      if marker == i { made.append(.readMarker) }
      if item.isState, options.foldsStateChanges {
        run.append(item)
      } else {
        let isNext = day == nil && marker != i && i > 0 && belongs(item, to: items[i - 1])
        made.append(.item(item, startsGroup: !isNext))
      }
    }
    flush(&run, &made)
    return made
  }

  private func flush(_ run: inout [TimelineItem], _ made: inout [Row]) {
    if run.count > 1 {
      made.append(.stateChanges(run))
    } else if let item = run.first {
      made.append(.item(item, startsGroup: true))
    }
    run = []
  }

  private func lastDated(before index: Int) -> TimelineItem? {
    var i = index - 1
    while i >= 0, items[i].isGap { i -= 1 }
    return i >= 0 ? items[i] : nil
  }

  private func newDay(_ item: TimelineItem, after previous: TimelineItem?) -> Int64? {
    guard !item.isGap else { return nil }
    let day = day(of: item)
    return previous.map { self.day(of: $0) } == day ? nil : day
  }

  private func day(of item: TimelineItem) -> Int64 {
    let (sum, overflow) = item.timestampMilliseconds.addingReportingOverflow(options.utcOffsetMilliseconds)
    let local = overflow ? item.timestampMilliseconds : sum
    let (days, rest) = local.quotientAndRemainder(dividingBy: 86_400_000)
    return rest < 0 ? days - 1 : days
  }

  private func belongs(_ item: TimelineItem, to previous: TimelineItem) -> Bool {
    guard item.isGrouped, previous.isGrouped, item.sender == previous.sender else { return false }
    let (distance, overflow) = item.timestampMilliseconds.subtractingReportingOverflow(previous.timestampMilliseconds)
    return !overflow && distance < options.groupMilliseconds
  }
}

extension TimelineRows.Row {
  public var id: TimelineRows.RowID {
    switch self {
    case .day(let day, let item): .day(day, before: item)
    case .readMarker: .readMarker
    case .item(let item, _): .item(item.id)
    case .stateChanges(let items): .stateChanges(items.first?.id ?? 0)
    }
  }

  var isMarker: Bool { if case .readMarker = self { true } else { false } }

  /// Of the timeline.
  var itemCount: Int {
    switch self {
    case .day, .readMarker: 0
    case .item: 1
    case .stateChanges(let items): items.count
    }
  }

  /// `changed`: items that may look different.
  func differs(from old: TimelineRows.Row, _ changed: Set<ItemID>) -> Bool {
    switch (self, old) {
    case (.item(let item, let starts), .item(_, let started)): changed.contains(item.id) || starts != started
    case (.stateChanges(let items), .stateChanges(let before)):
      items.count != before.count || zip(items, before).contains { $0.id != $1.id || changed.contains($0.id) }
    default: false
    }
  }
}

extension TimelineItem {
  var isGap: Bool { if case .gap = content { true } else { false } }
  var isState: Bool { if case .state = content { true } else { false } }
  /// Bodies of one sender stand together.
  var isGrouped: Bool { !isGap && !isState }
}
