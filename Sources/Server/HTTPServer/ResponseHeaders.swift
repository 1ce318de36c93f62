/// The header fields of a response, in the order they are sent.
///
/// A byte below 0x20 other than tab, or 0x7F, leaves as a blank, so that no value can end the field it is in.
package struct ResponseHeaders: Sendable, ExpressibleByDictionaryLiteral {
  package struct Field: Sendable, Equatable {
    package var name: String
    package var value: String
  }

  package var fields: [Field] = []

  package init() {}

  package init(dictionaryLiteral elements: (String, String)...) {
    fields = elements.map { Field(name: $0.0, value: $0.1) }
  }

  /// The first value of a field. Setting replaces every field of that name, nil removes them.
  package subscript(_ name: String) -> String? {
    get { fields.first { Self.equal($0.name, name) }?.value }
    set {
      guard let newValue else {
        fields.removeAll { Self.equal($0.name, name) }
        return
      }
      if let position = fields.firstIndex(where: { Self.equal($0.name, name) }) {
        fields[position].value = newValue
        var later = position + 1
        while later < fields.count {
          if Self.equal(fields[later].name, name) { fields.remove(at: later) } else { later += 1 }
        }
      } else {
        fields.append(Field(name: name, value: newValue))
      }
    }
  }

  /// Adds a field without looking whether there is one of that name.
  package mutating func add(_ name: String, _ value: String) { fields.append(Field(name: name, value: value)) }

  static func equal(_ left: String, _ right: String) -> Bool {
    guard left.utf8.count == right.utf8.count else { return false }
    return zip(left.utf8, right.utf8).allSatisfy { ASCII.lowercased($0) == ASCII.lowercased($1) }
  }
}
