/// A line over days as an SVG drawing of whole numbers: x goes from 0 to `width`, y from 0 at the top to `height` at the line of zero.
package struct Graph: Sendable {
  /// The number at the top: the least of 1, 2, 5, 10, 20, 50 … that no value exceeds.
  package let top: Int64
  /// Where each value stands.
  package let points: [(x: Int, y: Int)]
  package let width: Int
  package let height: Int

  /// - Parameter values: the oldest first; those below zero count as zero.
  package init(_ values: [Int64], width: Int, height: Int) {
    let values = values.map { max(0, $0) }
    let top = Self.top(of: values.max() ?? 0)
    self.top = top
    self.width = width
    self.height = height
    let last = max(1, values.count - 1)
    points = values.enumerated().map { index, value in
      (x: width * index / last, y: height - Int(Double(height) * (Double(value) / Double(top))))
    }
  }

  static func top(of value: Int64) -> Int64 {
    var power: Int64 = 1
    while true {
      for factor: Int64 in [1, 2, 5] {
        let (top, overflows) = power.multipliedReportingOverflow(by: factor)
        if overflows { return .max }
        if top >= value { return top }
      }
      let (next, overflows) = power.multipliedReportingOverflow(by: 10)
      if overflows { return .max }
      power = next
    }
  }

  /// The line itself; empty without values.
  package var line: String {
    var path = ""
    for point in points { path += (path.isEmpty ? "M" : " L") + "\(point.x) \(point.y)" }
    return path
  }

  /// What lies between the line and zero.
  package var area: String {
    guard let first = points.first, let last = points.last else { return "" }
    return line + " L\(last.x) \(height) L\(first.x) \(height) Z"
  }
}
