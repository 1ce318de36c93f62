import CYAML

/// A small YAML document as a tree: registrations of application services.
///
/// Anchors, aliases, tags and further documents are refused, as in the configuration file: they are how small files grow large.
enum YAMLTree: Sendable {
  /// `isPlain` tells `null` from `"null"`.
  case word(String, isPlain: Bool)
  case list([YAMLTree])
  case mapping([(name: String, value: YAMLTree)])

  struct Malformed: Error {
    /// From 1 on.
    let line: Int
    let problem: String
  }

  static let depthLimit = 16

  init(_ text: [UInt8]) throws(Malformed) {
    var reader = YAMLTreeReader(text)
    self = try reader.document()
  }

  subscript(_ name: String) -> YAMLTree? {
    guard case .mapping(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  /// nil for what is no word, and for null.
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

/// Walks libyaml's events.
private struct YAMLTreeReader: ~Copyable {
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let text: UnsafeMutableBufferPointer<UInt8>
  private var event = yaml_event_t()

  init(_ text: [UInt8]) {
    parser = .allocate(capacity: 1)
    self.text = .allocate(capacity: text.count)
    _ = self.text.initialize(from: text)
    guard yaml_parser_initialize(parser) == 1 else { fatalError("libyaml has no memory for a parser") }
    // libyaml keeps the address; `text` lives as long as the parser.
    yaml_parser_set_input_string(parser, self.text.baseAddress, text.count)
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
  }

  deinit {
    var last = event
    yaml_event_delete(&last)
    yaml_parser_delete(parser)
    parser.deallocate()
    text.deallocate()
  }

  mutating func document() throws(YAMLTree.Malformed) -> YAMLTree {
    try next()  // stream start
    try next()
    guard event.type != YAML_STREAM_END_EVENT else { throw malformed("there is nothing in it") }
    try next()
    let tree = try value(depth: 0)
    try next()  // document end
    try next()
    guard event.type == YAML_STREAM_END_EVENT else { throw malformed("there is a second document") }
    return tree
  }

  /// The value at the current event.
  private mutating func value(depth: Int) throws(YAMLTree.Malformed) -> YAMLTree {
    guard depth < YAMLTree.depthLimit else { throw malformed("the nesting is deeper than \(YAMLTree.depthLimit)") }
    switch event.type {
    case YAML_SCALAR_EVENT:
      return .word(scalar, isPlain: event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
    case YAML_SEQUENCE_START_EVENT:
      var elements: [YAMLTree] = []
      while true {
        try next()
        if event.type == YAML_SEQUENCE_END_EVENT { return .list(elements) }
        elements.append(try value(depth: depth + 1))
      }
    case YAML_MAPPING_START_EVENT:
      var members: [(name: String, value: YAMLTree)] = []
      while true {
        try next()
        if event.type == YAML_MAPPING_END_EVENT { return .mapping(members) }
        guard event.type == YAML_SCALAR_EVENT else { throw malformed("a name must be a word") }
        let name = scalar
        guard !members.contains(where: { $0.name == name }) else { throw malformed("\(name) is there twice") }
        try next()
        members.append((name, try value(depth: depth + 1)))
      }
    default: throw malformed("this is not used here")
    }
  }

  private var scalar: String {
    let value = event.data.scalar
    return String(decoding: UnsafeBufferPointer(start: value.value, count: value.length), as: UTF8.self)
  }

  private func malformed(_ problem: String) -> YAMLTree.Malformed {
    YAMLTree.Malformed(line: Int(event.start_mark.line) + 1, problem: problem)
  }

  private mutating func next() throws(YAMLTree.Malformed) {
    yaml_event_delete(&event)
    guard yaml_parser_parse(parser, &event) == 1 else {
      let failed = parser.pointee
      let line = Int(failed.problem_mark.line != 0 ? failed.problem_mark.line : failed.mark.line) + 1
      throw YAMLTree.Malformed(line: line, problem: failed.problem.map { String(cString: $0) } ?? "this is not YAML")
    }
    switch event.type {
    case YAML_ALIAS_EVENT: throw malformed("aliases are not used here")
    case YAML_SCALAR_EVENT where event.data.scalar.anchor != nil || event.data.scalar.tag != nil,
      YAML_SEQUENCE_START_EVENT where event.data.sequence_start.anchor != nil || event.data.sequence_start.tag != nil,
      YAML_MAPPING_START_EVENT where event.data.mapping_start.anchor != nil || event.data.mapping_start.tag != nil:
      throw malformed("anchors and tags are not used here")
    default: break
    }
  }
}
