import ClientCore
import MatrixModel
import Messenger

/// Which items of a timeline stand in which row: every item has one of its own, but two and more state changes in a row are folded
/// into one until somebody opens them.
///
/// The row of a fold has the identity of its first item, so that a line that gets company stays where it is; the first item's own
/// row, in a fold that is open, has that identity with a mark. Changes of keys stand between the items (`KeyNotes`).
package struct Folding {
  /// What an item is for its row.
  package struct Entry {
    package let id: ItemID
    /// It is folded: a change of the room, or what was said before the user joined and nobody has given them the key of.
    package let isState: Bool
    package var isFromBefore = false
    /// It is the user's own way into the room (true) or out of it.
    fileprivate(set) var comesIn: Bool?
    /// It has no row.
    package var isHidden = false
    /// Members that have not read it.
    package var unread = -1
    /// Who has read up to it and no further.
    package var readers: [UserID] = []
  }

  /// A row and the items in it.
  package struct Piece {
    package let row: RowID
    package let range: Range<Int>
    /// nil for an item's own row.
    package var isOpen: Bool?
    /// Whose keys have changed; empty for rows with items. The range is empty then.
    package var notes: [KeyNote] = []
  }

  package static let firstMark: UInt64 = 1 << 62

  package private(set) var entries: [Entry] = []
  /// The first items of those that are open.
  private var opened: [ItemID] = []
  /// What was deleted for everyone has no row.
  private let hidesDeleted: Bool

  private var notes: KeyNotes

  /// Whose joining is looked for.
  private let own: UserID?

  /// - Parameter notes: changes of keys, the oldest first.
  package init(
    _ items: [TimelineItem] = [], hidesDeleted: Bool = false, own: UserID? = nil, notes: [KeyNote] = []
  ) {
    self.hidesDeleted = hidesDeleted
    self.notes = KeyNotes(notes)
    self.own = own
    insert(items, at: 0)
  }

  package var count: Int { entries.count }
  package subscript(index: Int) -> Entry { entries[index] }

  package static func isNote(_ row: RowID) -> Bool { KeyNotes.isNote(row) }

  /// The item of the row; of one without, the item before it.
  package func item(at row: RowID) -> ItemID {
    guard Self.isNote(row), let index = notes.index(of: row) else { return Self.item(of: row) }
    return index > 0 ? entries[index - 1].id : Self.item(of: row)
  }

  package static func item(of row: RowID) -> ItemID { row.rawValue & ~firstMark }

  /// The end of a call is not folded away, because readers look for it. A thread stays where its root is gone.
  ///
  /// - Parameter wasIn: whether the user was in the room when it was sent; nil if that is not known.
  private func entry(_ item: TimelineItem, wasIn: Bool?) -> Entry {
    switch item.content {
    case .state(.callLeft(_, _?)): return Entry(id: item.id, isState: false)
    // A row each would say the same of message after message.
    case .undecryptable(let reason) where reason.isFromBefore(wasIn: wasIn):
      return Entry(id: item.id, isState: true, isFromBefore: true)
    case .redacted: return Entry(id: item.id, isState: false, isHidden: hidesDeleted && item.thread == nil)
    default:
      var entry = Entry(id: item.id, isState: item.isState)
      entry.comesIn = own.flatMap { item.comesIn($0) }
      return entry
    }
  }

  /// Whether the user was in the room before the item at `index`, as the last change of the own membership before it says, or the next one after it.
  /// Places count, and no times: those are of the senders' servers.
  private func wasIn(before index: Int) -> Bool? {
    entries[..<index].last { $0.comesIn != nil }?.comesIn ?? entries[index...].first { $0.comesIn != nil }?.comesIn.map { !$0 }
  }

  // MARK: Changing

  package mutating func insert(_ items: [TimelineItem], at index: Int) {
    if !notes.isEmpty { notes.insert(items.map { $0.timestampMilliseconds }, at: index) }
    var isIn = wasInBefore(items, at: index)
    let new = items.map { item in
      let entry = entry(item, wasIn: isIn)
      isIn = entry.comesIn ?? isIn
      return entry
    }
    entries.insert(contentsOf: new, at: index)
  }

  /// Whether the user was in the room before these items, which are not in yet.
  private func wasInBefore(_ items: [TimelineItem], at index: Int) -> Bool? {
    guard let own else { return nil }
    if let before = entries[..<index].last(where: { $0.comesIn != nil }) { return before.comesIn }
    if let first = items.lazy.compactMap({ $0.comesIn(own) }).first { return !first }
    return wasIn(before: index)
  }

  package mutating func update(_ item: TimelineItem, at index: Int) {
    var entry = self.entry(item, wasIn: wasIn(before: index))
    entry.unread = entries[index].unread
    entry.readers = entries[index].readers
    entries[index] = entry
  }

  package mutating func remove(_ range: Range<Int>) {
    notes.remove(range)
    entries.removeSubrange(range)
  }

  package mutating func setReaders(_ readers: [UserID], at index: Int) { entries[index].readers = readers }

  package mutating func setUnread(_ unread: Int, at index: Int) { entries[index].unread = unread }

  package mutating func toggle(_ first: ItemID) {
    if let known = opened.firstIndex(of: first) { opened.remove(at: known) } else { opened.append(first) }
  }

  // MARK: Rows

  /// The items whose rows a change of these can touch: to both ends of a run of state changes.
  package func region(around range: Range<Int>) -> Range<Int> {
    var (first, end) = (range.lowerBound, range.upperBound)
    while first > 0, entries[first - 1].isState { first -= 1 }
    while end < entries.count, entries[end].isState { end += 1 }
    return first..<end
  }

  /// The rows of a region.
  package func pieces(_ region: Range<Int>) -> [Piece] {
    var pieces: [Piece] = []
    var index = region.lowerBound
    while index < region.upperBound {
      addNote(before: index, to: &pieces)
      if entries[index].isHidden {
        index += 1
        continue
      }
      let end = runEnd(index, region.upperBound)
      if end - index < 2 {
        pieces.append(Piece(row: RowID(entries[index].id), range: index..<index + 1))
        index += 1
        continue
      }
      let isOpen = opened.contains(entries[index].id)
      pieces.append(Piece(row: RowID(entries[index].id), range: index..<end, isOpen: isOpen))
      if isOpen {
        for inner in index..<end {
          let mark = inner == index ? Folding.firstMark : 0
          pieces.append(Piece(row: RowID(entries[inner].id | mark), range: inner..<inner + 1))
        }
      }
      index = end
    }
    if region.upperBound == entries.count { addNote(before: entries.count, to: &pieces) }
    return pieces
  }

  /// The row that tells of keys before an item, or behind the last one.
  package func note(_ row: RowID) -> Piece? {
    guard let index = notes.index(of: row) else { return nil }
    var pieces: [Piece] = []
    addNote(before: index, to: &pieces)
    return pieces.first { $0.row == row }
  }

  private func addNote(before index: Int, to pieces: inout [Piece]) {
    guard !notes.isEmpty, let (row, notes) = notes.row(before: index) else { return }
    pieces.append(Piece(row: row, range: index..<index, notes: notes))
  }

  /// The rows of the item, and of those folded with it.
  package func pieces(around index: Int) -> [Piece] {
    pieces(entries[index].isState ? region(around: index..<index + 1) : index..<index + 1)
  }

  private func runEnd(_ start: Int, _ limit: Int) -> Int {
    var end = start
    while end < limit, entries[end].isState, end == start || notes.isEmpty || !notes.hasNotes(before: end) { end += 1 }
    return end
  }

  /// Returns the first row from `index` on, or nil if there is no such row.
  package func firstRow(from index: Int) -> RowID? {
    guard let next = entries[index...].firstIndex(where: { !$0.isHidden }) else { return notes.row(before: entries.count)?.row }
    return pieces(around: next).first?.row
  }

  /// The row in which an item is shown; of one without, the next row, or the last.
  package func row(of index: Int) -> RowID {
    let index = entries[index...].firstIndex { !$0.isHidden } ?? entries[..<index].lastIndex { !$0.isHidden } ?? index
    guard entries[index].isState else { return RowID(entries[index].id) }
    for piece in pieces(around: index).reversed() where piece.range.contains(index) { return piece.row }
    return RowID(entries[index].id)
  }

  /// The last item that the user sees with a row, including items without a row that follow it.
  package func lastItem(of row: RowID) -> ItemID {
    let id = item(at: row)
    guard var index = entries.lastIndex(where: { $0.id == id }) else { return id }
    for piece in pieces(around: index) where piece.row == row && piece.isOpen != true { index = piece.range.upperBound - 1 }
    while index + 1 < entries.count, entries[index + 1].isHidden { index += 1 }
    return entries[index].id
  }
}

extension TimelineItem {
  package var isState: Bool {
    if case .state = content { return true }
    return false
  }

  /// Whether the user comes into the room by it (true) or leaves it; nil if it is something else.
  fileprivate func comesIn(_ user: UserID) -> Bool? {
    guard case .state(let change) = content else { return nil }
    switch change {
    case .joined(user): return true
    case .left(user, _), .kicked(user, _), .banned(user, _): return false
    default: return nil
    }
  }
}

extension UndecryptableReason {
  /// Servers need not say who had joined when something was sent, and then a key from before seems to be on its way.
  ///
  /// - Parameter wasIn: whether the user was in the room; nil if that is not known.
  fileprivate func isFromBefore(wasIn: Bool?) -> Bool {
    switch self {
    case .beforeJoining, .withheld(.historyNotShared): true
    case .waiting, .historyUnavailable(.noBackup): wasIn == false
    default: false
    }
  }
}
