import CYAML

/// An error in a YAML text.
struct YAMLError: Error, Equatable {
  /// The line, from 1.
  let line: Int
  /// The column, from 1; nil if the problem is the whole line.
  var column: Int?
  let problem: String

  /// The place as messages name it.
  var place: String { "line \(line)" + (column.map { ", column \($0)" } ?? "") }
}

/// Reads a YAML text with one document, event by event.
///
/// Refuses anchors, aliases, tags and further documents: no file of Martlet needs them, and they can make a small file large.
/// libyaml 0.2.5 does not limit the depth: the caller must.
struct YAMLEvents: ~Copyable {
  enum Kind: Equatable {
    case scalar, sequenceStart, sequenceEnd, mappingStart, mappingEnd
    /// The start or end of the text or its document.
    case border
  }

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

  // MARK: Reading

  /// Goes to the first event within the document. Returns false if there is no document. Call it first.
  mutating func begin() throws(YAMLError) -> Bool {
    try next()  // stream start
    try next()
    guard event.type != YAML_STREAM_END_EVENT else { return false }
    try next()
    return true
  }

  /// Goes from the last event within the document to the end of the text. Throws if another document follows.
  mutating func end() throws(YAMLError) {
    try next()  // document end
    try next()
    guard event.type == YAML_STREAM_END_EVENT else { throw malformed("there is a second document") }
  }

  mutating func next() throws(YAMLError) {
    yaml_event_delete(&event)
    guard yaml_parser_parse(parser, &event) == 1 else {
      throw problem.error
    }
    switch event.type {
    case YAML_ALIAS_EVENT: throw malformed("aliases are not supported")
    case YAML_SCALAR_EVENT where event.data.scalar.anchor != nil || event.data.scalar.tag != nil,
      YAML_SEQUENCE_START_EVENT where event.data.sequence_start.anchor != nil || event.data.sequence_start.tag != nil,
      YAML_MAPPING_START_EVENT where event.data.mapping_start.anchor != nil || event.data.mapping_start.tag != nil:
      throw malformed("anchors and tags are not supported")
    default: break
    }
  }

  /// Why libyaml cannot go on.
  private var problem: YAMLProblem {
    let failed = parser.pointee
    // Reader errors (bad UTF-8) carry an offset instead of a mark.
    let mark = failed.problem_mark.line != 0 || failed.problem_mark.column != 0 ? failed.problem_mark : failed.mark
    let begin = failed.context == nil ? nil : (Int(failed.context_mark.line) + 1, Int(failed.context_mark.column) + 1)
    return YAMLProblem(
      problem: failed.problem.map { String(cString: $0) } ?? "the text is not valid YAML", line: Int(mark.line) + 1,
      column: Int(mark.column) + 1, begin: begin, text: UnsafeBufferPointer(text))
  }

  // MARK: The current event

  var kind: Kind {
    switch event.type {
    case YAML_SCALAR_EVENT: .scalar
    case YAML_SEQUENCE_START_EVENT: .sequenceStart
    case YAML_SEQUENCE_END_EVENT: .sequenceEnd
    case YAML_MAPPING_START_EVENT: .mappingStart
    case YAML_MAPPING_END_EVENT: .mappingEnd
    default: .border
    }
  }

  /// The text of a scalar. Use it only if `kind` is `.scalar`.
  var scalar: String {
    let value = event.data.scalar
    return String(decoding: UnsafeBufferPointer(start: value.value, count: value.length), as: UTF8.self)
  }

  /// Whether a scalar has no quotes, which tells `null` from `"null"`. Use it only if `kind` is `.scalar`.
  var isPlain: Bool { event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE }

  /// The line of the current event, from 1.
  var line: Int { Int(event.start_mark.line) + 1 }

  private var column: Int { Int(event.start_mark.column) + 1 }

  /// An error at the current event.
  func malformed(_ problem: String) -> YAMLError { YAMLError(line: line, column: column, problem: problem) }
}
