import Shell

/// The settings of a YAML file: their names, with dots for nesting, their values and their lines.
///
/// The value of a setting is a scalar or a list of scalars. Mappings can be nested.
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

  /// Reads `text`. `path` is the name of the file in errors. Throws `malformed` or `repeated`.
  init(_ text: [UInt8], path: String) throws(ConfigurationError) {
    var reader = SettingsReader(text, path: path)
    entries = try reader.entries()
  }
}

private struct SettingsReader: ~Copyable {
  private var events: YAMLEvents
  private let text: [UInt8]
  private let path: String
  private var found: [ConfigurationFile.Entry] = []
  private var names: Set<String> = []

  /// The number of levels to which mappings can be nested.
  private static let depthLimit = 8

  init(_ text: [UInt8], path: String) {
    events = YAMLEvents(text)
    self.text = text
    self.path = path
  }

  mutating func entries() throws(ConfigurationError) -> [ConfigurationFile.Entry] {
    do throws(YAMLError) { guard try events.begin() else { return [] } } catch { throw refused(error) }
    if events.kind == .mappingStart {
      try mapping(prefix: "", depth: 0)
    } else if !(events.kind == .scalar && events.scalar.isEmpty) {
      throw malformed("the file must contain settings, each as name: value with a space behind the colon")
    }
    do throws(YAMLError) { try events.end() } catch { throw refused(error) }
    return found
  }

  /// Reads a mapping from its start to its end.
  private mutating func mapping(prefix: String, depth: Int) throws(ConfigurationError) {
    guard depth < Self.depthLimit else { throw malformed("the file is nested more than \(Self.depthLimit) levels deep") }
    while true {
      try next()
      if events.kind == .mappingEnd { return }
      guard events.kind == .scalar else { throw malformed("the name of a setting must be plain text") }
      let name = prefix + events.scalar
      let line = events.line
      try next()
      if events.kind == .mappingStart {
        try mapping(prefix: name + ".", depth: depth + 1)
        continue
      }
      let values = try values(of: name)
      guard names.insert(name).inserted else { throw .repeated(name: name, .file(path: path, line: line)) }
      found.append(.init(name: name, values: values, line: line))
    }
  }

  /// Returns the scalar or the list of scalars at the current event. Throws `malformed` for an unquoted `~` or `null`, or an empty value.
  private mutating func values(of name: String) throws(ConfigurationError) -> [String] {
    if events.kind == .scalar { return try [word(of: name)] }
    guard events.kind == .sequenceStart else {
      throw malformed("the value of \(name) must be plain text or a list")
    }
    var values: [String] = []
    while true {
      try next()
      if events.kind == .sequenceEnd { return values }
      guard events.kind == .scalar else { throw malformed("each element of the list \(name) must be plain text") }
      try values.append(word(of: name))
    }
  }

  private func word(of name: String) throws(ConfigurationError) -> String {
    let word = events.scalar
    if events.isPlain && (word.isEmpty || word == "~" || word == "null") {
      throw malformed(
        Setting.isGroup(name)
          ? "\(name) is a group of settings: indent its settings below it, each by two spaces"
          : "\(name) has no value; to use the default, remove the line")
    }
    return word
  }

  private mutating func next() throws(ConfigurationError) {
    do throws(YAMLError) { try events.next() } catch { throw refused(error) }
  }

  private func malformed(_ problem: String) -> ConfigurationError { refused(events.malformed(problem)) }

  private func refused(_ error: YAMLError) -> ConfigurationError {
    .malformed(path: path, error, excerpt: SourceLines(text).excerpt(around: error.line))
  }
}
