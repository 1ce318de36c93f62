/// The rows in order, found by identity in O(1).
struct RowStore {
  struct Entry {
    var row: TimelineRow
    /// Local calendar day.
    var day: Int
    /// The sender's number; 0 for rows that are not messages. Grouping compares these without touching the content.
    var author: Int32
    /// Grows with each new content, so that a rendered row knows it is out of date.
    var version: UInt32 = 0
    /// Stands beneath the message it answers.
    var isAnswer = false
  }

  private(set) var entries: [Entry] = []
  /// Index plus `base`, by identity. Prepending changes only `base`.
  private var positions: [RowID: Int] = [:]
  private var base = 0
  private let localDay: (Int64) -> Int
  private var authors = AtomTable()
  private var lastAuthor: (sender: Sender, number: Int32)?
  /// The newest own message, once looked for; any change makes it unknown.
  private var told: Told?

  /// Rows that are looked through for the newest own message.
  private static let toldLimit = 500

  private enum Told {
    case row(Int)
    case none
  }

  init(localDay: @escaping (Int64) -> Int) { self.localDay = localDay }

  var count: Int { entries.count }
  subscript(index: Int) -> Entry { entries[index] }

  func index(of id: RowID) -> Int? {
    guard let position = positions[id] else { return nil }
    return position - base
  }

  /// The newest message of the reader's own whose delivery state is shown; nil if there is none among the newest rows.
  mutating func toldIndex(newestIsFirst: Bool) -> Int? {
    if told == nil { told = findTold(newestIsFirst).map { .row($0) } ?? Told.none }
    if case .row(let index)? = told { return index }
    return nil
  }

  private func findTold(_ newestIsFirst: Bool) -> Int? {
    if newestIsFirst { return entries.prefix(RowStore.toldLimit).firstIndex { $0.row.isTold } }
    return entries.suffix(RowStore.toldLimit).lastIndex { $0.row.isTold }
  }

  mutating func replaceAll(_ rows: [TimelineRow]) {
    told = nil
    entries.removeAll()
    entries.reserveCapacity(rows.count)
    positions.removeAll()
    positions.reserveCapacity(rows.count)
    base = 0
    for row in rows {
      if let index = index(of: row.id) {
        update(row, at: index)
        continue
      }
      positions[row.id] = entries.count
      entries.append(entry(row))
    }
  }

  /// Inserts the rows that are not known yet (known ones get the new content in their place) and returns how many.
  mutating func insert(_ rows: [TimelineRow], at index: Int) -> Int {
    told = nil
    var new: [Entry] = []
    new.reserveCapacity(rows.count)
    for row in rows {
      if let known = positions[row.id] {
        // A row twice in one batch: the later content counts.
        if known == Int.min, let twin = new.firstIndex(where: { $0.row.id == row.id }) { new[twin].row = row }
        if known != Int.min { update(row, at: known - base) }
        continue
      }
      positions[row.id] = Int.min
      new.append(entry(row))
    }
    shift(from: index, by: new.count)
    for (offset, entry) in new.enumerated() { positions[entry.row.id] = index + offset + base }
    entries.insert(contentsOf: new, at: index)
    return new.count
  }

  mutating func mark(_ index: Int, isAnswer: Bool) { entries[index].isAnswer = isAnswer }

  mutating func remove(at index: Int) {
    told = nil
    positions[entries[index].row.id] = nil
    shift(from: index + 1, by: -1)
    entries.remove(at: index)
  }

  mutating func update(_ row: TimelineRow, at index: Int) {
    told = nil
    let old = entries[index].row
    if old.id != row.id {
      positions[old.id] = nil
      positions[row.id] = index + base
    }
    if old.timestampMilliseconds != row.timestampMilliseconds {
      entries[index].day = localDay(row.timestampMilliseconds)
    }
    entries[index].author = author(of: row)
    entries[index].row = row
    entries[index].version &+= 1
  }

  private mutating func entry(_ row: TimelineRow) -> Entry {
    Entry(row: row, day: localDay(row.timestampMilliseconds), author: author(of: row))
  }

  private mutating func author(of row: TimelineRow) -> Int32 {
    guard case .message(let message) = row.content else { return 0 }
    if let lastAuthor, lastAuthor.sender === message.sender { return lastAuthor.number }
    let number = authors.intern(message.sender.id).atom.id
    lastAuthor = (message.sender, number)
    return number
  }

  /// Makes the positions right for `amount` rows more at `index`, touching the shorter side only.
  private mutating func shift(from index: Int, by amount: Int) {
    guard amount != 0 else { return }
    if index * 2 >= entries.count {
      for later in index..<max(index, entries.count) { positions[entries[later].row.id]? += amount }
    } else {
      base -= amount
      let end = amount < 0 ? index - 1 : index
      for earlier in 0..<end { positions[entries[earlier].row.id]? -= amount }
    }
  }
}

extension TimelineRow {
  /// An own message of which it is known how far it has come.
  fileprivate var isTold: Bool {
    guard case .message(let message) = content, message.sender.isOwn else { return false }
    return message.receipt != .hidden || message.sendState != .sent
  }
}
