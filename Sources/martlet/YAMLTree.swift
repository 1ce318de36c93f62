/// A small YAML document as a tree, such as the registration of an application service.
enum YAMLTree: Sendable {
  /// `isPlain` tells `null` from `"null"`.
  case word(String, isPlain: Bool)
  case list([YAMLTree])
  case mapping([(name: String, value: YAMLTree)])

  static let depthLimit = 16

  init(_ text: [UInt8]) throws(YAMLError) {
    var events = YAMLEvents(text)
    guard try events.begin() else { throw events.malformed("the file is empty") }
    self = try Self.value(&events, depth: 0)
    try events.end()
  }

  /// Returns the value at the current event.
  private static func value(_ events: inout YAMLEvents, depth: Int) throws(YAMLError) -> YAMLTree {
    guard depth < depthLimit else { throw events.malformed("the file is nested more than \(depthLimit) levels deep") }
    switch events.kind {
    case .scalar: return .word(events.scalar, isPlain: events.isPlain)
    case .sequenceStart:
      var elements: [YAMLTree] = []
      while true {
        try events.next()
        if events.kind == .sequenceEnd { return .list(elements) }
        elements.append(try value(&events, depth: depth + 1))
      }
    case .mappingStart:
      var members: [(name: String, value: YAMLTree)] = []
      while true {
        try events.next()
        if events.kind == .mappingEnd { return .mapping(members) }
        guard events.kind == .scalar else { throw events.malformed("a name must be plain text") }
        let name = events.scalar
        guard !members.contains(where: { $0.name == name }) else { throw events.malformed("\(name) occurs twice") }
        try events.next()
        members.append((name, try value(&events, depth: depth + 1)))
      }
    default: throw events.malformed("this kind of YAML is not supported")
    }
  }

  subscript(_ name: String) -> YAMLTree? {
    guard case .mapping(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  /// The text of a word; nil for null, lists and mappings.
  var text: String? {
    guard case .word(let text, let isPlain) = self, !isNull(text, isPlain) else { return nil }
    return text
  }

  var isNull: Bool {
    guard case .word(let text, let isPlain) = self else { return false }
    return isNull(text, isPlain)
  }

  var bool: Bool? {
    switch text {
    case "true", "True", "TRUE": true
    case "false", "False", "FALSE": false
    default: nil
    }
  }

  var elements: [YAMLTree]? {
    guard case .list(let elements) = self else { return nil }
    return elements
  }

  private func isNull(_ text: String, _ isPlain: Bool) -> Bool { isPlain && ["", "~", "null", "Null", "NULL"].contains(text) }
}
