import Telemetry

/// A setting: its names, its meaning, its allowed values, and its place in `Configuration`.
///
/// `Setting.all` is the only list of settings. The file, the environment, the flags, the help text and
/// `Documentation/Configuration.md` all come from it.
struct Setting: Sendable {
  /// The name in the file. A dot stands for nesting: `log.level`.
  let name: String
  let summary: String
  /// Completes "… is not allowed for log.level; allowed: …" and "Allowed: …".
  let allowed: String
  /// Describes the default if it depends on something; nil if its value says enough.
  let defaultText: String?
  let isList: Bool
  let isSecret: Bool
  /// Stores the values in the configuration. Returns false and changes nothing if a value is not allowed. Only a list can get no value.
  let read: @Sendable ([String], inout Configuration) -> Bool
  /// Returns the values as text; empty if there are none.
  let values: @Sendable (Configuration) -> [String]

  /// The environment variable, such as `MARTLET_LOG_LEVEL`.
  var variable: String { "MARTLET_" + name.map { $0 == "." ? "_" : $0.uppercased() }.joined() }

  /// The flag, such as `--log-level`.
  var flag: String { "--" + String(name.map { $0 == "." || $0 == "_" ? "-" : $0 }) }

  /// Whether settings have this name with a dot behind it.
  static func isGroup(_ name: String) -> Bool { all.contains { $0.name.hasPrefix(name + ".") } }

  /// Says what a name that is not in `known` probably means.
  static func hint(for name: String, among known: [String] = all.map(\.name)) -> String {
    if isGroup(name) {
      let parts = all.map(\.name).filter { $0.hasPrefix(name + ".") }.map { $0.dropFirst(name.utf8.count + 1) }
      return "it is a group of settings: indent \(parts.joined(separator: ", ")) below it"
    }
    guard let nearest = NearestName.of(name, among: known) else { return "martlet help lists all settings" }
    return "did you mean \(nearest)?"
  }

  /// The default as text.
  var defaultDescription: String {
    if let defaultText { return defaultText }
    let values = values(Configuration())
    return values.isEmpty ? "none" : values.joined(separator: ", ")
  }
}

extension Setting {
  /// Returns a setting with one value. `parse` returns nil if the value is not allowed.
  static func one<T: Sendable>(
    _ name: String, _ path: any WritableKeyPath<Configuration, T> & Sendable, _ summary: String, allowed: String,
    defaultText: String? = nil, isSecret: Bool = false, parse: @escaping @Sendable (String) -> T?,
    show: @escaping @Sendable (T) -> String?
  ) -> Setting {
    Setting(
      name: name, summary: summary, allowed: allowed, defaultText: defaultText, isList: false, isSecret: isSecret,
      read: { values, configuration in
        guard values.count == 1, let value = parse(values[0]) else { return false }
        configuration[keyPath: path] = value
        return true
      },
      values: { configuration in show(configuration[keyPath: path]).map { [$0] } ?? [] })
  }

  /// Returns a setting with a list of values, `minimum` or more. `parse` returns nil if a value is not allowed.
  static func list<T: Sendable>(
    _ name: String, _ path: any WritableKeyPath<Configuration, [T]> & Sendable, _ summary: String, allowed: String,
    atLeast minimum: Int = 0, isSecret: Bool = false, parse: @escaping @Sendable (String) -> T?,
    show: @escaping @Sendable (T) -> String
  ) -> Setting {
    Setting(
      name: name, summary: summary, allowed: allowed, defaultText: nil, isList: true, isSecret: isSecret,
      read: { values, configuration in
        let parsed = values.compactMap(parse)
        guard parsed.count == values.count, parsed.count >= minimum else { return false }
        configuration[keyPath: path] = parsed
        return true
      },
      values: { configuration in configuration[keyPath: path].map(show) })
  }

  static func integer(
    _ name: String, _ path: any WritableKeyPath<Configuration, Int> & Sendable, _ summary: String,
    _ range: ClosedRange<Int>
  ) -> Setting {
    .one(
      name, path, summary, allowed: "a whole number from \(range.lowerBound) to \(range.upperBound)",
      parse: { text in
        guard text.utf8.allSatisfy(isDigit), let number = Int(text), range.contains(number) else { return nil }
        return number
      },
      show: { "\($0)" })
  }

  static func flag(_ name: String, _ path: any WritableKeyPath<Configuration, Bool> & Sendable, _ summary: String)
    -> Setting
  {
    .one(
      name, path, summary, allowed: "true or false", parse: { $0 == "true" ? true : $0 == "false" ? false : nil },
      show: { $0 ? "true" : "false" })
  }

  /// Returns a setting whose values have names. `words` lists the names with the values they stand for.
  static func choice<T: Sendable>(
    _ name: String, _ path: any WritableKeyPath<Configuration, T> & Sendable, _ summary: String,
    defaultText: String? = nil,
    words: [(String, T)], show: @escaping @Sendable (T) -> String?
  ) -> Setting {
    .one(
      name, path, summary, allowed: words.map(\.0).joined(separator: ", "), defaultText: defaultText,
      parse: { text in words.first { $0.0 == text }?.1 }, show: show)
  }
}
