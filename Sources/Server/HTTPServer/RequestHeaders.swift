/// The header fields of a request as received: names compare without case, byte by byte; order and repetition are kept.
///
/// The target and all fields share one block of bytes, so that a parked request costs two allocations, not two a field.
package struct RequestHeaders: Sendable, Sequence {
  /// A field in `bytes`: its name and, right behind, its value.
  struct Span: Sendable {
    var start: UInt32
    var nameCount: UInt16
    var valueCount: UInt16
  }

  /// The request target followed by names and values.
  var bytes: [UInt8] = []
  var targetCount = 0
  var spans: [Span] = []

  /// The target up to its query.
  var pathBytes: ArraySlice<UInt8> {
    bytes[0..<(bytes[0..<targetCount].firstIndex(of: UInt8(ascii: "?")) ?? targetCount)]
  }

  package init() {}

  /// Fields made by hand, for tests and internal requests.
  package init(_ fields: [(name: String, value: String)]) {
    for field in fields { append(name: field.name, value: field.value) }
  }

  package var count: Int { spans.count }

  /// The first value of a field, nil when it is absent. Bytes that are no UTF-8 read as U+FFFD.
  package subscript(_ name: StaticString) -> String? {
    first(name).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The first value as bytes.
  package func first(_ name: StaticString) -> ArraySlice<UInt8>? {
    for span in spans where matches(span, name) { return value(of: span) }
    return nil
  }

  /// Every value of a field in order.
  package func all(_ name: StaticString) -> [String] {
    spans.filter { matches($0, name) }.map { String(decoding: value(of: $0), as: UTF8.self) }
  }

  package func contains(_ name: StaticString) -> Bool { first(name) != nil }

  package func makeIterator() -> AnyIterator<(name: String, value: String)> {
    var position = 0
    return AnyIterator {
      guard position < spans.count else { return nil }
      let span = spans[position]
      position += 1
      return (
        String(decoding: bytes[Int(span.start)..<Int(span.start) + Int(span.nameCount)], as: UTF8.self),
        String(decoding: value(of: span), as: UTF8.self)
      )
    }
  }

  /// - Precondition: neither is longer than 65,535 bytes.
  mutating func append(name: String, value: String) {
    spans.append(
      Span(start: UInt32(bytes.count), nameCount: UInt16(name.utf8.count), valueCount: UInt16(value.utf8.count)))
    bytes.append(contentsOf: name.utf8)
    bytes.append(contentsOf: value.utf8)
  }

  /// How often a field occurs.
  func occurrences(of name: StaticString) -> Int {
    var count = 0
    for span in spans where matches(span, name) { count += 1 }
    return count
  }

  private func value(of span: Span) -> ArraySlice<UInt8> {
    let start = Int(span.start) + Int(span.nameCount)
    return bytes[start..<start + Int(span.valueCount)]
  }

  private func matches(_ span: Span, _ name: StaticString) -> Bool {
    guard Int(span.nameCount) == name.utf8CodeUnitCount else { return false }
    return bytes.withUnsafeBufferPointer { bytes in
      for index in 0..<Int(span.nameCount)
      where ASCII.lowercased(bytes[Int(span.start) + index]) != ASCII.lowercased(name.utf8Start[index]) {
        return false
      }
      return true
    }
  }
}
