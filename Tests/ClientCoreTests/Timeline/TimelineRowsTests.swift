import JSON
import MatrixModel
import Testing

@testable import ClientCore

@Suite struct TimelineRowsTests {
  private static let day: Int64 = 86_400_000

  private static func message(_ id: ItemID, by sender: String = "@alice:test", at time: Int64 = 0) -> TimelineItem {
    item(id, by: sender, at: time, .message(MessageContent(kind: .text, body: "x")))
  }

  private static func state(_ id: ItemID, at time: Int64 = 0) -> TimelineItem {
    item(id, at: time, .state(.joined(UserID(trusted: "@bob:test"))))
  }

  private static func item(
    _ id: ItemID, by sender: String = "@alice:test", at time: Int64, _ content: TimelineItem.Content
  ) -> TimelineItem {
    TimelineItem(
      id: id, eventID: EventID(trusted: ByteString("$\(id)")), sender: UserID(trusted: ByteString(sender)),
      timestampMilliseconds: time, content: content, delivery: .received)
  }

  static func describe(_ rows: [TimelineRows.Row]) -> [String] {
    rows.map { row in
      switch row {
      case .day(let day, let before): "day \(day) <\(before)"
      case .readMarker: "unread"
      case .item(let item, let starts): "\(item.id)\(starts ? "" : "+")\(item.isEdited ? "e" : "")"
      case .stateChanges(let items): "[" + items.map { "\($0.id)\($0.isEdited ? "e" : "")" }.joined(separator: " ") + "]"
      }
    }
  }

  @Test func `days are those of the reader's clock`() {
    let items = [Self.message(1, at: Self.day - 2), Self.message(2, at: Self.day - 1), Self.message(3, at: -1)]
    #expect(Self.describe(TimelineRows(items).rows) == ["day 0 <1", "1", "2+", "day -1 <3", "3"])
    let east = TimelineRows(items, .init(utcOffsetMilliseconds: 1))
    #expect(Self.describe(east.rows) == ["day 0 <1", "1", "day 1 <2", "2", "day 0 <3", "3"])
    let hostile = TimelineRows([Self.message(1, at: .max), Self.message(2, at: .min)], .init(utcOffsetMilliseconds: 9))
    #expect(hostile.rows.count == 4)
  }

  @Test func `messages of one sender in a short time belong together`() {
    let items = [
      Self.message(1), Self.message(2, at: 299_999), Self.message(3, at: 599_999),
      Self.message(4, by: "@bob:test", at: 600_000),
      Self.state(5, at: 600_000), Self.message(6, by: "@bob:test", at: 600_001)
    ]
    #expect(Self.describe(TimelineRows(items).rows) == ["day 0 <1", "1", "2+", "3", "4", "5", "6"])
  }

  @Test func `state changes in a row fold into one, as far as the day, a message or the marker`() {
    let items = [
      Self.state(1), Self.state(2), Self.message(3), Self.state(4), Self.message(5), Self.state(6), Self.state(7),
      Self.state(8, at: Self.day), Self.state(9, at: Self.day)
    ]
    #expect(
      Self.describe(TimelineRows(items).rows) == ["day 0 <1", "[1 2]", "3", "4", "5", "[6 7]", "day 1 <8", "[8 9]"])
    #expect(TimelineRows(items, .init(foldsStateChanges: false)).rows.count == 11)
  }

  @Test func `the marker stands in front of the first unread message of others and moves forward only`() {
    let me = UserID(trusted: "@me:test")
    let items = [
      Self.message(1), Self.message(2, by: "@me:test"), Self.state(3), Self.message(4), Self.message(5)
    ]
    var rows = TimelineRows(items, .init(ownUserID: me), readUpTo: 1)
    #expect(Self.describe(rows.rows) == ["day 0 <1", "1", "2", "3", "unread", "4", "5+"])
    _ = rows.setRead(upTo: 4)
    #expect(Self.describe(rows.rows) == ["day 0 <1", "1", "2", "3", "4", "unread", "5"])
    #expect(rows.setRead(upTo: 1).isEmpty)
    #expect(rows.setRead(upTo: 77).isEmpty)
    _ = rows.setRead(upTo: 5)
    #expect(Self.describe(rows.rows) == ["day 0 <1", "1", "2", "3", "4", "5+"])
    _ = rows.apply(.inserted(at: 5, [Self.message(6)]))
    #expect(Self.describe(rows.rows) == ["day 0 <1", "1", "2", "3", "4", "5+", "unread", "6"])
  }

  @Test func `one more message is one more row`() {
    var rows = TimelineRows([Self.message(1)])
    let changes = rows.apply(.inserted(at: 1, [Self.message(2)]))
    #expect(changes.count == 1)
    guard case .inserted(at: 2, let new)? = changes.first else { return #expect(Bool(false)) }
    #expect(Self.describe(new) == ["2+"])
  }

  // MARK: Property

  private static func apply(_ change: TimelineRows.Change, to rows: inout [TimelineRows.Row]) {
    switch change {
    case .inserted(let index, let new):
      rows.insert(contentsOf: new, at: index)
      #expect(Set(rows.map { $0.id }).count == rows.count, "a row is there twice")
    case .updated(let index, let row):
      #expect(rows[index].id == row.id)
      rows[index] = row
    case .removed(let range): rows.removeSubrange(range)
    case .reset(let new): rows = new
    }
  }

  private static func randomItem(_ id: ItemID, _ random: inout RandomSource) -> TimelineItem {
    let time = Int64(random.next(below: 3)) * day + Int64(random.next(below: 4)) * 100_000
    let sender = ["@alice:test", "@bob:test", "@me:test"][Int(random.next(below: 3))]
    switch random.next(below: 6) {
    case 0: return TimelineItem(gap: id)
    case 1, 2: return state(id, at: time)
    default: return message(id, by: sender, at: time)
    }
  }

  private static func randomChange(
    _ items: inout [TimelineItem], _ nextID: inout ItemID, _ random: inout RandomSource
  ) -> TimelineChange {
    func new() -> TimelineItem {
      nextID += 1
      return randomItem(nextID, &random)
    }
    switch random.next(below: 10) {
    case 0..<5:
      let index = random.next(below: 2) == 0 ? items.count : Int(random.next(below: Int64(items.count + 1)))
      let some = (0...random.next(below: 3)).map { _ in new() }
      items.insert(contentsOf: some, at: index)
      return .inserted(at: index, some)
    case 5..<7 where !items.isEmpty:
      let first = Int(random.next(below: Int64(items.count)))
      let range = first..<min(items.count, first + 1 + Int(random.next(below: 3)))
      items.removeSubrange(range)
      return .removed(range)
    case 7..<9 where !items.isEmpty:
      let index = Int(random.next(below: Int64(items.count)))
      items[index] = randomItem(items[index].id, &random)
      items[index].isEdited = random.next(below: 2) == 0
      return .updated(at: index, items[index])
    default:
      if random.next(below: 8) == 0 { items = (0...random.next(below: 9)).map { _ in new() } }
      return .reset(items)
    }
  }

  @Test(arguments: 0..<1_500) func `rows that follow the steps are those made from scratch`(seed: Int) {
    var random = RandomSource(seed: UInt64(seed) &* 104_729 &+ 3)
    var items: [TimelineItem] = []
    var nextID: ItemID = 0
    let options = TimelineRows.Options(
      foldsStateChanges: random.next(below: 4) > 0, ownUserID: UserID(trusted: "@me:test"))
    var rows = TimelineRows([], options)
    var mirror: [TimelineRows.Row] = []
    for _ in 0..<25 {
      let changes =
        random.next(below: 6) == 0 && !items.isEmpty
        ? rows.setRead(upTo: items[Int(random.next(below: Int64(items.count)))].id)
        : rows.apply(Self.randomChange(&items, &nextID, &random))
      for change in changes { Self.apply(change, to: &mirror) }
      let scratch = TimelineRows(items, options, readUpTo: rows.readUpTo)
      let expected = Self.describe(scratch.rows)
      #expect(Self.describe(rows.rows) == expected)
      #expect(Self.describe(mirror) == expected)
    }
  }
}
