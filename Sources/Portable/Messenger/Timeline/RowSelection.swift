/// Rows that are chosen to be copied, forwarded or deleted together, without a page.
///
/// A row is chosen by itself, or as the end of a range that begins at the row chosen by itself before. A range that is
/// extended again takes the place of the one before it.
public struct RowSelection: Equatable, Sendable {
  /// Rows that can be chosen at once.
  public static var limit: Int { 100 }

  /// In the order in which they were chosen.
  public private(set) var rows: [RowID] = []
  /// Where ranges begin.
  private var anchor: RowID?
  /// The rows that were chosen before the present range.
  private var base: [RowID] = []

  init(_ row: RowID) { toggle(row) }

  public func contains(_ row: RowID) -> Bool { rows.contains(row) }
  /// Whether nothing more can be chosen.
  public var isFull: Bool { rows.count >= RowSelection.limit }

  /// Chooses a row, or gives it up. Does nothing if it would be one too many.
  mutating func toggle(_ row: RowID) {
    if let index = rows.firstIndex(of: row) {
      rows.remove(at: index)
    } else if !isFull {
      rows.append(row)
    } else {
      return
    }
    anchor = row
    base = rows
  }

  /// Chooses the rows of a range beside those that were chosen before it, as many as fit.
  /// - Parameter between: all rows that can be chosen from one row to another, both included, from the first on.
  mutating func extend(to row: RowID, between: (RowID, RowID) -> [RowID]) {
    guard let anchor else { return toggle(row) }
    rows = base
    for row in between(anchor, row) where !rows.contains(row) && !isFull { rows.append(row) }
  }

  /// Gives up the rows that are gone, or cannot be chosen any more.
  mutating func keep(_ isThere: (RowID) -> Bool) {
    rows.removeAll { !isThere($0) }
    base.removeAll { !isThere($0) }
    if let row = anchor, !isThere(row) { anchor = base.last }
  }

  /// A row goes on under another identity.
  mutating func rename(_ old: RowID, _ new: RowID) {
    for index in rows.indices where rows[index] == old { rows[index] = new }
    for index in base.indices where base[index] == old { base[index] = new }
    if anchor == old { anchor = new }
  }
}
