/// The query of a request target as `application/x-www-form-urlencoded`: `+` is a blank, keys may repeat.
package struct Query: Sendable {
  /// Key and value in the order received. A component that does not decode to UTF-8 is kept out and counted.
  package private(set) var items: [(key: String, value: String)] = []
  /// Whether some component did not decode.
  package private(set) var isMalformed = false

  package init() {}

  /// Of the bytes behind the `?`, or of a body of that type.
  package init(_ bytes: ArraySlice<UInt8>) {
    var rest = bytes
    while !rest.isEmpty {
      let end = rest.firstIndex(of: UInt8(ascii: "&")) ?? rest.endIndex
      let component = rest[..<end]
      rest = rest[end...].dropFirst()
      if component.isEmpty { continue }
      let middle = component.firstIndex(of: UInt8(ascii: "=")) ?? component.endIndex
      guard let key = PercentCoding.decode(component[..<middle], plusIsBlank: true),
        let value = PercentCoding.decode(component[middle...].dropFirst(), plusIsBlank: true)
      else {
        isMalformed = true
        continue
      }
      items.append((key, value))
    }
  }

  /// The first value of a key.
  package subscript(_ key: String) -> String? {
    items.first { Self.areSame($0.key, key) }?.value
  }

  /// Every value of a key in order.
  package func all(_ key: String) -> [String] {
    items.filter { Self.areSame($0.key, key) }.map(\.value)
  }

  private static func areSame(_ one: String, _ other: String) -> Bool {
    one.utf8.count == other.utf8.count && one.utf8.elementsEqual(other.utf8)
  }
}
