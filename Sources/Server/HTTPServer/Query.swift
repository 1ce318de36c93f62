/// The query of a request target as `application/x-www-form-urlencoded`: `+` is a blank, keys may repeat.
package struct Query: Sendable {
  /// Key and value in the order received. A component that does not decode to UTF-8 is kept out and counted.
  package private(set) var items: [(key: String, value: String)] = []
  /// Whether some component did not decode.
  package private(set) var isMalformed = false

  package init() {}

  /// Of the bytes behind the `?`, or of a body of that type.
  package init(_ bytes: ArraySlice<UInt8>) {
    for component in bytes.split(separator: UInt8(ascii: "&")) {
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
    items.first { $0.key.utf8.elementsEqual(key.utf8) }?.value
  }

  /// Every value of a key in order.
  package func all(_ key: String) -> [String] {
    items.filter { $0.key.utf8.elementsEqual(key.utf8) }.map(\.value)
  }
}
