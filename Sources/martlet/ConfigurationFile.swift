import CYAML
import Glibc

/// The settings of a YAML file: names with dots for nesting, their values, and the line of each.
///
/// A setting is a word or a list of words; mappings nest. Anchors, aliases, tags and further documents are refused: no
/// setting needs them, and they are how small files grow large.
struct ConfigurationFile {
  struct Entry: Equatable {
    let name: String
    let values: [String]
    let line: Int
  }

  static let byteLimit = 1 << 20

  let entries: [Entry]

  /// Reads a file of at most `byteLimit` bytes. Throws `unreadable`, `malformed` or `repeated`.
  init(path: String) throws(ConfigurationError) {
    let bytes: [UInt8]
    do throws(FileBytes.Unreadable) {
      bytes = try FileBytes.read(path, limit: Self.byteLimit)
    } catch {
      throw .unreadable(path: path, reason: error.reason)
    }
    try self.init(bytes, path: path)
  }

  /// Reads the text itself; `path` names it in errors.
  init(_ text: [UInt8], path: String) throws(ConfigurationError) {
    var reader = try YAMLReader(text, path: path)
    entries = try reader.entries()
  }
}

/// Walks libyaml's events. Lines count from 1.
private struct YAMLReader: ~Copyable {
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let text: UnsafeMutableBufferPointer<UInt8>
  private let path: String
  private var event = yaml_event_t()
  private var found: [ConfigurationFile.Entry] = []
  private var names: Set<String> = []

  /// Mappings and lists within each other. libyaml 0.2.5 itself has no limit.
  private static let depthLimit = 8

  init(_ text: [UInt8], path: String) throws(ConfigurationError) {
    self.path = path
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

  mutating func entries() throws(ConfigurationError) -> [ConfigurationFile.Entry] {
    try next()  // stream start
    try next()
    if event.type == YAML_STREAM_END_EVENT { return [] }
    try next()
    if event.type == YAML_MAPPING_START_EVENT {
      try mapping(prefix: "", depth: 0)
    } else if !(event.type == YAML_SCALAR_EVENT && scalar.isEmpty) {
      throw malformed("the file must be a mapping of settings, name: value")
    }
    try next()  // document end
    try next()
    guard event.type == YAML_STREAM_END_EVENT else { throw malformed("there is a second document") }
    return found
  }

  /// From a mapping's start to its end.
  private mutating func mapping(prefix: String, depth: Int) throws(ConfigurationError) {
    guard depth < Self.depthLimit else { throw malformed("the nesting is deeper than \(Self.depthLimit)") }
    while true {
      try next()
      if event.type == YAML_MAPPING_END_EVENT { return }
      guard event.type == YAML_SCALAR_EVENT else { throw malformed("the name of a setting must be a word") }
      let name = prefix + scalar
      let line = self.line
      try next()
      if event.type == YAML_MAPPING_START_EVENT {
        try mapping(prefix: name + ".", depth: depth + 1)
        continue
      }
      let values = try values(of: name)
      guard names.insert(name).inserted else { throw .repeated(name: name, .file(path: path, line: line)) }
      found.append(.init(name: name, values: values, line: line))
    }
  }

  /// The word or the list of words at the current event. An unquoted `~`, `null` or nothing is no word.
  private mutating func values(of name: String) throws(ConfigurationError) -> [String] {
    if event.type == YAML_SCALAR_EVENT { return try [word(of: name)] }
    guard event.type == YAML_SEQUENCE_START_EVENT else {
      throw malformed("the value of \(name) is of a kind that is not used here")
    }
    var values: [String] = []
    while true {
      try next()
      if event.type == YAML_SEQUENCE_END_EVENT { return values }
      guard event.type == YAML_SCALAR_EVENT else { throw malformed("the list \(name) may only hold words") }
      try values.append(word(of: name))
    }
  }

  private func word(of name: String) throws(ConfigurationError) -> String {
    let word = scalar
    let isPlain = event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE
    if isPlain && (word.isEmpty || word == "~" || word == "null") {
      throw malformed("\(name) has no value; leave the line out for the default")
    }
    return word
  }

  private var scalar: String {
    let value = event.data.scalar
    return String(decoding: UnsafeBufferPointer(start: value.value, count: value.length), as: UTF8.self)
  }

  private var line: Int { Int(event.start_mark.line) + 1 }

  private func malformed(_ problem: String) -> ConfigurationError {
    .malformed(path: path, line: line, problem: problem)
  }

  private mutating func next() throws(ConfigurationError) {
    yaml_event_delete(&event)
    guard yaml_parser_parse(parser, &event) == 1 else {
      let failed = parser.pointee
      // Reader errors (bad UTF-8) carry an offset instead of a mark.
      let line = Int(failed.problem_mark.line != 0 ? failed.problem_mark.line : failed.mark.line) + 1
      throw .malformed(
        path: path, line: line, problem: failed.problem.map { String(cString: $0) } ?? "this is not YAML")
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
