import Glibc
import JSON
import MatrixModel

/// Rows for people: columns as wide as their longest text.
package struct Table {
  private let rows: [[String]]

  package init(_ header: [String]?, _ rows: [[String]]) {
    self.rows = ((header.map { [$0] } ?? []) + rows).map { $0.map(Self.harmless) }
  }

  package var text: String {
    var widths: [Int] = []
    for row in rows {
      for (column, text) in row.enumerated() {
        if column == widths.count { widths.append(0) }
        widths[column] = max(widths[column], text.count)
      }
    }
    return rows.map { row in
      var line = ""
      for (column, text) in row.enumerated() {
        line += text
        if column < row.count - 1 { line += String(repeating: " ", count: widths[column] - text.count + 2) }
      }
      return line + "\n"
    }.joined()
  }

  /// What users wrote must not command the terminal: control characters become U+FFFD.
  package static func harmless(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars { result.unicodeScalars.append(scalar.isControl ? "\u{FFFD}" : scalar) }
    return result
  }

  /// A value as a cell.
  package static func text(_ value: JSON?) -> String {
    guard let value, !value.isNull else { return "-" }
    if let text = value.string { return text }
    if let bool = value.bool { return bool ? "yes" : "no" }
    return String(decoding: value.bytes, as: UTF8.self)
  }

  /// Milliseconds since 1970 as `2026-11-20 22:48` in UTC.
  package static func time(_ value: JSON?) -> String {
    guard let milliseconds = value?.integer else { return "-" }
    var seconds = time_t(milliseconds / 1_000)
    var parts = tm()
    guard gmtime_r(&seconds, &parts) != nil else { return "-" }
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return
      "\(Int(parts.tm_year) + 1_900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday)) \(two(parts.tm_hour)):\(two(parts.tm_min))"
  }

  /// Bytes as `1.5 MiB`.
  package static func bytes(_ value: JSON?) -> String {
    guard let bytes = value?.integer else { return "-" }
    let units = ["KiB", "MiB", "GiB", "TiB"]
    guard bytes >= 1_024 else { return "\(bytes) B" }
    var tenths = bytes * 10 / 1_024
    var unit = 0
    while tenths >= 10_240, unit < units.count - 1 {
      tenths /= 1_024
      unit += 1
    }
    return "\(tenths / 10).\(tenths % 10) \(units[unit])"
  }
}
