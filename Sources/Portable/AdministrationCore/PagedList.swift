import JSON

/// What a list can tell its rows apart by: a user ID, a room ID, the number of a report.
package protocol Listed: Sendable {
  var key: ByteString { get }
}

/// A list that comes from the server page by page: what is there, whether there is more, which rows are chosen. It makes no requests;
/// each begins with a `Request`, and an answer to any but the newest is dropped, so that words that are typed quickly never mix.
package struct PagedList<Item: Listed>: Sendable {
  package enum State: Sendable { case loading, loaded, failed }

  package struct Request: Sendable, Equatable {
    package let number: Int
    /// Where the page begins; nil for the first one.
    package let from: Int64?
  }

  package struct Page: Sendable {
    package let items: [Item]
    /// The number of items on all pages; nil if the server does not tell.
    package let total: Int64?
    /// Where the next page begins; nil after the last one.
    package let next: Int64?
    /// Whether `next` is a number of rows, and not a place in time.
    package let countsRows: Bool

    package init(_ items: [Item], total: Int64? = nil, next: Int64? = nil, countsRows: Bool = false) {
      self.items = items
      self.total = total
      self.next = next
      self.countsRows = countsRows
    }
  }

  /// Rows that are kept at most; nobody reads further without searching.
  package static var itemsLimit: Int { 5_000 }

  package private(set) var items: [Item] = []
  package private(set) var total: Int64?
  package private(set) var state = State.loading
  private var next: Int64?
  private var countsRows = false
  private var newest = 0
  private var chosen: Set<ByteString> = []

  package init() {}

  package var hasMore: Bool { next != nil && items.count < Self.itemsLimit }

  // MARK: Pages

  /// Begins anew, as for other words. What is there stays until the answer comes.
  package mutating func begin() -> Request {
    next = nil
    return request()
  }

  /// Returns the request for the next page, or nil if there are no more pages or a request is under way.
  package mutating func more() -> Request? { hasMore && state != .loading ? request() : nil }

  private mutating func request() -> Request {
    newest += 1
    state = .loading
    return Request(number: newest, from: next)
  }

  /// Returns whether the page was of the newest request. An item that is there already, because the list moved between two pages, does
  /// not come twice.
  package mutating func take(_ page: Page, for request: Request) -> Bool {
    guard request.number == newest else { return false }
    if request.from == nil { items = [] }
    var known = Set(items.map { $0.key })
    for item in page.items where known.insert(item.key).inserted { items.append(item) }
    chosen.formIntersection(known)
    total = page.total
    next = page.next
    countsRows = page.countsRows
    state = .loaded
    return true
  }

  /// Returns whether the failure was of the newest request.
  package mutating func fail(_ request: Request) -> Bool {
    guard request.number == newest else { return false }
    next = request.from
    state = .failed
    return true
  }

  // MARK: Changes

  /// After it was dismissed or deleted.
  package mutating func remove(_ key: ByteString) {
    guard let index = items.firstIndex(where: { $0.key == key }) else { return }
    items.remove(at: index)
    chosen.remove(key)
    total = total.map { max(0, $0 - 1) }
    // What follows has moved up by one.
    if countsRows { next = next.map { max(0, $0 - 1) } }
  }

  // MARK: Choosing

  package var chosenItems: [Item] { items.filter { chosen.contains($0.key) } }

  package func isChosen(_ item: Item) -> Bool { chosen.contains(item.key) }

  package var allAreChosen: Bool { !items.isEmpty && chosen.count == items.count }

  package mutating func choose(_ key: ByteString, _ isOn: Bool) {
    if isOn, items.contains(where: { $0.key == key }) { chosen.insert(key) } else { chosen.remove(key) }
  }

  package mutating func chooseAll(_ isOn: Bool) { chosen = isOn ? Set(items.map { $0.key }) : [] }
}
