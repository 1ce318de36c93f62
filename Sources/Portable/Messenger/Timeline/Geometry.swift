/// A row and where its top stands on the screen, in pixels below the viewport's top.
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

  var naturalHeight: Double { headHeight + heights.total + footHeight }
  /// Few rows stand at the bottom: the space above them.
  var slack: Double { max(0, viewport - naturalHeight) }
  var contentHeight: Double { max(viewport, naturalHeight) }
  var maxScroll: Double { max(0, naturalHeight - viewport) }
  /// Whether the last row is the latest there is.
  var hasEnd = true
  var isNearEnd: Bool { hasEnd && scrollTop >= maxScroll - followDistance }

  /// Top of a row in the content; `heights.count` gives the foot's.
  func y(of row: Int) -> Double { slack + headHeight + heights.offset(of: row) }

  func row(at y: Double) -> Int { heights.row(at: y - slack - headHeight) }

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

  /// Moves the viewport to where the aim is by the present heights.
  mutating func take(_ aim: Aim) {
    switch aim {
    case .end: scrollTop = maxScroll
    case .anchor(let anchor): scrollTop = max(0, min(y(of: anchor.index) - anchor.screenY, maxScroll))
    case .here: scrollTop = max(0, min(scrollTop, maxScroll))
    }
  }
}
