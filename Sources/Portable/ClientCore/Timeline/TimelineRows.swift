import JSON
import MatrixModel

/// A timeline as a list for the screen: days, the marker of what is unread, and state changes in a row folded into one.
///
/// A view feeds it the steps of `Change.timeline` and follows the steps it gives back:
///
///     var rows = TimelineRows(timeline.items, options)
///     for step in steps { list.carryOut(rows.apply(step)) }
///
/// One step costs O(rows behind it + its own items).
public struct TimelineRows: Sendable {
  public struct Options: Sendable {
    /// What the local time is ahead of UTC.
    public var utcOffsetMilliseconds: Int64
    /// Messages of one sender within this time belong together.
    public var groupMilliseconds: Int64
    public var foldsStateChanges: Bool
    /// Own messages are never unread.
    public var ownUserID: UserID?

    public init(
      utcOffsetMilliseconds: Int64 = 0, groupMilliseconds: Int64 = 300_000, foldsStateChanges: Bool = true,
      ownUserID: UserID? = nil
    ) {
      self.utcOffsetMilliseconds = utcOffsetMilliseconds
      self.groupMilliseconds = groupMilliseconds
      self.foldsStateChanges = foldsStateChanges
      self.ownUserID = ownUserID
    }
  }

  public enum Row: Sendable {
    /// Days since 1970 in local time. Stands in front of the item with that ID.
    case day(Int64, before: ItemID)
    /// Everything behind it is unread.
    case readMarker
    /// `startsGroup`: whether the item before it is of someone else, older, or no message.
    case item(TimelineItem, startsGroup: Bool)
    /// At least two state changes.
    case stateChanges([TimelineItem])
  }

  /// What a row is, over all changes of how it looks.
  public enum RowID: Hashable, Sendable {
    case day(Int64, before: ItemID)
    case readMarker
    case item(ItemID)
    /// The first of the folded ones.
    case stateChanges(ItemID)
  }

  public typealias Change = ListChange<Row>

  public let options: Options
  public private(set) var rows: [Row] = []
  private(set) var items: [TimelineItem] = []
  /// Up to this item everything is read; nil where nothing says so.
  public private(set) var readUpTo: ItemID?

  public init(_ items: [TimelineItem] = [], _ options: Options = Options(), readUpTo: ItemID? = nil) {
    self.options = options
    self.items = items
    self.readUpTo = readUpTo
    rows = makeRows(0..<items.count, marker: markerIndex())
  }

  // MARK: Changes

  public mutating func apply(_ change: TimelineChange) -> [Change] {
    switch change {
    case .reset(let new):
      items = new
      rows = makeRows(0..<items.count, marker: markerIndex())
      return [.reset(rows)]
    case .inserted(let index, let new):
      guard index <= items.count else { return [] }
      return rebuild(index..<index) { $0.insert(contentsOf: new, at: index) }
    case .removed(let range):
      guard range.upperBound <= items.count else { return [] }
      return rebuild(range) { $0.removeSubrange(range) }
    case .updated(let index, let item):
      guard index < items.count else { return [] }
      return rebuild(index..<(index + 1)) { $0[index] = item }
    }
  }

  /// Moves the marker forward, never back. An item that is not here is ignored.
  public mutating func setRead(upTo item: ItemID) -> [Change] {
    guard let new = index(of: item) else { return [] }
    if let known = readUpTo, let old = index(of: known), old >= new { return [] }
    let before = markerIndex()
    readUpTo = item
    let after = markerIndex()
    guard before != after else { return [] }
    var changes: [Change] = []
    if let before { changes += replace(around: before..<(before + 1), marker: nil) }
    if let after { changes += replace(around: after..<(after + 1), marker: after) }
    return changes
  }

  func index(of item: ItemID) -> Int? { items.lastIndex { $0.id == item } }

  /// Carries out a change of the items in `range` and of the rows it touches.
  private mutating func rebuild(_ range: Range<Int>, _ body: (inout [TimelineItem]) -> Void) -> [Change] {
    let oldMarker = markerIndex()
    let count = items.count
    let oldRegion = region(around: range)
    body(&items)
    let growth = items.count - count
    let region = oldRegion.lowerBound..<(oldRegion.upperBound + growth)
    let marker = markerIndex()
    let moved = oldMarker.flatMap { marker -> Int? in
      if marker >= range.upperBound { return marker + growth }
      return growth < 0 && range.contains(marker) ? nil : marker
    }
    let hasMoved = moved != nil && moved != marker
    var changes: [Change] = []
    // Gone from its old place first: no row is there twice at any time.
    if hasMoved, let row = rows.lastIndex(where: { $0.isMarker }) {
      rows.remove(at: row)
      changes.append(.removed(row..<(row + 1)))
    }
    changes += replace(
      rowRange(oldRegion, itemCount: count), by: makeRows(region, marker: marker),
      updated: range.lowerBound..<(range.upperBound + growth))
    if hasMoved, let moved, !region.contains(moved), moved < items.count {
      changes += replace(around: moved..<(moved + 1), marker: marker)
    }
    if let marker, marker != moved, !region.contains(marker) {
      changes += replace(around: marker..<(marker + 1), marker: marker)
    }
    return changes
  }

  private mutating func replace(around range: Range<Int>, marker: Int?) -> [Change] {
    let region = region(around: range)
    return replace(rowRange(region, itemCount: items.count), by: makeRows(region, marker: marker), updated: 0..<0)
  }

  /// As few steps as tell the difference: rows at both ends that stay are left alone.
  private mutating func replace(_ range: Range<Int>, by new: [Row], updated: Range<Int>) -> [Change] {
    let old = Array(rows[range])
    let changed = Set(items[updated].map { $0.id })
    rows.replaceSubrange(range, with: new)
    var head = 0
    while head < min(old.count, new.count), old[head].id == new[head].id { head += 1 }
    var tail = 0
    while tail < min(old.count, new.count) - head, old[old.count - 1 - tail].id == new[new.count - 1 - tail].id {
      tail += 1
    }
    var changes: [Change] = []
    if old.count > head + tail {
      changes.append(.removed((range.lowerBound + head)..<(range.lowerBound + old.count - tail)))
    }
    if new.count > head + tail {
      changes.append(.inserted(at: range.lowerBound + head, Array(new[head..<(new.count - tail)])))
    }
    for i in new.indices where i < head || i >= new.count - tail {
      let before = old[i < head ? i : i - new.count + old.count]
      if new[i].differs(from: before, changed) { changes.append(.updated(at: range.lowerBound + i, new[i])) }
    }
    return changes
  }

  // MARK: Places

  /// The items whose rows a change of `range` can touch: to the ends of the runs of state changes at both sides, and the next item,
  /// whose day and group depend on the one before it. Gaps have no day: the item behind them counts as next too.
  private func region(around range: Range<Int>) -> Range<Int> {
    var first = range.lowerBound
    while first > 0, items[first - 1].isState { first -= 1 }
    var last = range.upperBound
    while last < items.count, items[last].isGap { last += 1 }
    if last < items.count { last += 1 }
    if last > 0, last - 1 < items.count, items[last - 1].isState {
      while last < items.count, items[last].isState { last += 1 }
    }
    return first..<last
  }

  /// The rows of these items, with the days and the marker in front of each.
  private func rowRange(_ region: Range<Int>, itemCount: Int) -> Range<Int> {
    var upper = rows.count
    var item = itemCount
    while item > region.upperBound || (upper > 0 && item == region.upperBound && rows[upper - 1].itemCount == 0) {
      guard upper > 0 else { break }
      // Days and the marker belong to the item behind them.
      upper -= 1
      item -= rows[upper].itemCount
    }
    var lower = upper
    while item > region.lowerBound || (lower > 0 && rows[lower - 1].itemCount == 0) {
      guard lower > 0 else { break }
      lower -= 1
      item -= rows[lower].itemCount
    }
    return lower..<upper
  }
}
