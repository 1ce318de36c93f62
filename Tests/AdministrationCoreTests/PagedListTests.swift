import AdministrationCore
import JSON
import Testing

struct PagedListTests {
  private struct Row: Listed, Equatable {
    let key: ByteString
    init(_ number: Int) { key = ByteString("\(number)") }
  }

  private typealias Page = PagedList<Row>.Page

  /// A list with its first page.
  private func list(_ count: Int = 3, total: Int64 = 5, next: Int64? = 3, countsRows: Bool = true) -> PagedList<Row> {
    var list = PagedList<Row>()
    let request = list.begin()
    _ = list.take(Page((0..<count).map { Row($0) }, total: total, next: next, countsRows: countsRows), for: request)
    return list
  }

  @Test("Pages follow each other until the last, and each row comes once")
  func pages() throws {
    var list = list()
    #expect(list.items.count == 3 && list.total == 5 && list.hasMore && list.state == .loaded)
    let (second, third) = (list.more(), list.more())
    let request = try #require(second)
    #expect(request.from == 3 && third == nil)
    // Somebody was added at the top meanwhile, so the third row comes again.
    let isTaken = list.take(Page([Row(2), Row(3), Row(4)], total: 5), for: request)
    let last = list.more()
    #expect(isTaken && list.items == [Row(0), Row(1), Row(2), Row(3), Row(4)] && !list.hasMore && last == nil)
  }

  @Test("A late answer to earlier words is dropped")
  func late() {
    var list = PagedList<Row>()
    let (first, second) = (list.begin(), list.begin())
    let isTaken = list.take(Page([Row(7)]), for: second)
    let isLateTaken = list.take(Page([Row(1)]), for: first)
    let isLateFailure = list.fail(first)
    #expect(isTaken && !isLateTaken && !isLateFailure)
    #expect(list.items == [Row(7)] && list.state == .loaded)
  }

  @Test("A page that failed is asked for again, and what is there stays")
  func failure() throws {
    var list = list()
    let second = list.more()
    let hasFailed = list.fail(try #require(second))
    #expect(hasFailed && list.state == .failed && list.items.count == 3)
    let again = list.more()
    #expect(again?.from == 3)
  }

  @Test("A row that is removed takes its place in the next page along")
  func removal() {
    var list = list()
    list.remove("1")
    list.remove("9")
    #expect(list.items == [Row(0), Row(2)] && list.total == 4)
    let next = list.more()
    #expect(next?.from == 2)
    // Pages that go back in time begin where they began.
    var other = self.list(countsRows: false)
    other.remove("1")
    let before = other.more()
    #expect(before?.from == 3)
  }

  @Test("Rows are chosen one by one or all, and rows that go away are chosen no more")
  func choosing() {
    var list = list()
    list.choose("1", true)
    list.choose("9", true)
    #expect(list.chosenItems == [Row(1)] && !list.allAreChosen && list.isChosen(Row(1)))
    list.chooseAll(true)
    #expect(list.allAreChosen)
    list.remove("1")
    #expect(list.chosenItems == [Row(0), Row(2)])
    let request = list.begin()
    _ = list.take(Page([Row(2), Row(5)]), for: request)
    #expect(list.chosenItems == [Row(2)])
    list.choose("2", false)
    #expect(list.chosenItems.isEmpty)
    list.chooseAll(false)
    #expect(!list.allAreChosen)
  }

  @Test("No list grows beyond its limit")
  func limit() {
    let list = list(PagedList<Row>.itemsLimit, total: .max, next: 5_000)
    #expect(!list.hasMore)
  }
}
