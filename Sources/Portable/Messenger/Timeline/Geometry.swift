/// A row and where its top stands on the screen, in pixels below the viewport's top; behind the last row there is the end of it.
struct Anchor {
  var index: Int
  var screenY: Double
}

/// Where the viewport shall come to be.
enum Aim {
  case end
  case anchor(Anchor)
  /// Where it is, as far as there is content.
  case here
}

/// Where everything is, without a page: viewport, scroll position, heights. All in CSS pixels.
struct Geometry {
  var heights = HeightIndex()
  var width = 0.0
  var viewport = 0.0
  var scrollTop = 0.0
  var headHeight = 0.0
  var footHeight = 0.0
  /// The reader is at the end and stays there when rows come.
  var follows = true
  var followDistance = 16.0
  /// The newest row is the first one: head and foot change places, and the end of the conversation is the top of the content.
  var newestIsFirst = false
  /// Pixels that the page has of the content, where that is higher: engines cut at 33 million, and lose fractions before.
  var pageLimit = 8_000_000.0
  /// Pixels of the content that lie above what the page has.
  var pageStart: Double { settledStart + drift }
  /// The same once nobody scrolls. Whole ones, so that nothing is blurred.
  private var settledStart = 0.0
  /// By how much guesses above the viewport were wrong while it was scrolled: what is in view keeps its place in the page
  /// until it rests, since WebKit ends a finger's fling when a page scrolls itself. Negative where there is less than was guessed.
  private(set) var drift = 0.0

  var naturalHeight: Double { headHeight + heights.total + footHeight }
  /// Few rows stand where the newest is: the space above them.
  var slack: Double { newestIsFirst ? 0 : max(0, viewport - naturalHeight) }
  var contentHeight: Double { max(viewport, naturalHeight) }
  var maxScroll: Double { max(0, naturalHeight - viewport) }
  /// Whether the last row is the latest there is.
  var hasEnd = true
  var isNearEnd: Bool { hasEnd && distanceToEnd <= followDistance }
  /// How far the reader can scroll to what is newest.
  var distanceToEnd: Double { newestIsFirst ? scrollTop : maxScroll - scrollTop }
  /// How far to what is oldest.
  var distanceToStart: Double { maxScroll - distanceToEnd }

  var headTop: Double { newestIsFirst ? y(of: heights.count) : slack }
  var footTop: Double { newestIsFirst ? 0 : y(of: heights.count) }
  /// Where the rows begin.
  private var rowsTop: Double { newestIsFirst ? footHeight : slack + headHeight }

  /// Top of a row in the content; `heights.count` gives the end of the last one.
  func y(of row: Int) -> Double { rowsTop + heights.offset(of: row) }

  func row(at y: Double) -> Int { heights.row(at: y - rowsTop) }

  /// Where the row's top stands below the viewport's, and how high the row is; nil when none of it is in view.
  func seen(_ row: Int) -> (y: Double, height: Double)? {
    let place = (y: y(of: row) - scrollTop, height: Double(heights.heights[row]))
    return place.y < viewport && place.y + place.height > 0 ? place : nil
  }

  /// The rows within `overscan` pixels around the viewport.
  func range(overscan: Double) -> Range<Int> {
    guard heights.count > 0, viewport > 0 else { return 0..<0 }
    let first = row(at: scrollTop - overscan)
    let last = row(at: scrollTop + viewport + overscan)
    return first..<max(first, last) + 1
  }

  /// The row that shall not move: the first whose top is in view (what changes above it grows upwards), else the one
  /// that fills the viewport. There must be rows.
  func anchorRow() -> Int {
    let row = row(at: scrollTop)
    let top = y(of: row)
    if top < scrollTop, row + 1 < heights.count, top + Double(heights.heights[row]) < scrollTop + viewport {
      return row + 1
    }
    return row
  }

  /// What the page has not.
  private var absent: Double { Double(Int(max(0, contentHeight - pageLimit))) }
  var pageHeight: Double { contentHeight - absent - drift }
  /// The page's own scroll position.
  var pageTop: Double { scrollTop - pageStart }
  var lastPageTop: Double { pageHeight - viewport }

  /// A person scrolled the page to there. Farther than a wheel, a key or a finger leads goes the scrollbar, which stands for everything.
  mutating func scrolled(to top: Double) {
    let distance = (top - pageTop).magnitude
    if distance > viewport {
      if absent > 0, distance > 4 * viewport { settledStart = start(top, of: lastPageTop) }
      // At the very end the page ends where the conversation does, whatever was guessed above.
      if top < lastPageTop - 1 { drift = 0 }
    }
    scrollTop = top + pageStart
  }

  /// What the page has moves along where the viewport comes near its ends.
  private mutating func settlePage(keepsDrift: Bool) {
    let near = 2 * viewport
    if !keepsDrift || min(pageTop, scrollTop) < near || pageTop > lastPageTop - near { drift = 0 }
    let edge = pageLimit / 160
    let isAbove = pageTop < (settledStart > 0 ? edge : 0)
    let isBelow = pageTop > (settledStart < absent ? lastPageTop - edge : lastPageTop)
    guard isAbove || isBelow || settledStart > absent else { return }
    drift = 0
    settledStart = start(scrollTop, of: maxScroll)
  }

  /// Where the page shall begin by how far the viewport is; both ends are whole.
  private func start(_ top: Double, of last: Double) -> Double {
    let edge = pageLimit / 80
    guard absent > 0 else { return 0 }
    return Double(Int(absent * max(0, min(1, (top - edge) / (last - 2 * edge)))))
  }

  /// Moves the viewport to where the aim is by the present heights; or, with `drifts`, the content under it.
  mutating func take(_ aim: Aim, drifts: Bool = false) {
    let before = pageTop
    switch aim {
    case .end: scrollTop = newestIsFirst ? 0 : maxScroll
    case .anchor(let anchor): scrollTop = max(0, min(y(of: anchor.index) - anchor.screenY, maxScroll))
    case .here: scrollTop = max(0, min(scrollTop, maxScroll))
    }
    if drifts { drift += pageTop - before }
    settlePage(keepsDrift: drifts)
  }
}
