import Glibc
import Shell

/// A configuration with the origin of each value that is not a default.
struct LoadedConfiguration: Sendable {
  var configuration = Configuration()
  /// The file that was read; nil if there is none.
  var path: String?
  /// By the names of settings.
  var origins: [String: ConfigurationOrigin] = [:]
  /// The `MARTLET_…` variables that do not name a setting. They are not an error: Kubernetes creates such variables from a service's name.
  var unknownVariables: [String] = []
}

/// Merges file, environment and flags. A flag takes precedence over the environment, the environment over the file, the file over the default.
enum ConfigurationLoader {
  /// The files of which the first that exists is read if the operator names none. The second belongs to the packaged program only: a program
  /// in a clone must not pick up the data folder of an installed server.
  static let defaultPaths =
    ["martlet.yaml"] + (ProgramFolder.path == "/usr/bin" ? ["/etc/martlet/martlet.yaml"] : [])

  /// Reads the settings from the file, the environment and the flags.
  ///
  /// `flags` are the words after the subcommand: `--name value` or `--name=value`. For a list, a flag can be repeated, and
  /// commas separate values in flags and variables.
  /// Throws on the first thing that is wrong.
  static func load(
    flags: [String], environment: [String: String], defaultPaths: [String] = defaultPaths
  ) throws(ConfigurationError) -> LoadedConfiguration {
    let flags = try parse(flags)
    var loaded = LoadedConfiguration()
    if let path = flags.configurationPath ?? environment["MARTLET_CONFIG"] ?? defaultPaths.first(where: mayExist) {
      try loaded.take(ConfigurationFile(path: path), path: path)
      loaded.path = path
    }
    for setting in Setting.all {
      guard let value = environment[setting.variable] else { continue }
      try loaded.take(
        setting, setting.isList ? commaSeparated(value) : [value], .environment(variable: setting.variable))
    }
    for setting in Setting.all {
      guard let values = flags.values[setting.flag] else { continue }
      guard setting.isList || values.count == 1 else { throw .repeated(name: setting.name, .flag(setting.flag)) }
      try loaded.take(setting, setting.isList ? values.flatMap(commaSeparated) : values, .flag(setting.flag))
    }
    let known = Set(Setting.all.map(\.variable) + ["MARTLET_CONFIG"])
    loaded.unknownVariables = environment.keys.filter { $0.hasPrefix("MARTLET_") && !known.contains($0) }.sorted()
    if let contradiction = loaded.configuration.contradiction { throw .contradiction(contradiction) }
    return loaded
  }

  /// The system's file counts as existing if the user may not enter its folder. Reading it then fails with a message; ignoring it would make
  /// the command use another data folder. The working folder is another matter: it is where an operator happens to be, such as /root.
  private static func mayExist(_ path: String) -> Bool {
    access(path, F_OK) == 0 || (errno == EACCES && path.hasPrefix("/"))
  }

  private static func parse(
    _ words: [String]
  ) throws(ConfigurationError) -> (configurationPath: String?, values: [String: [String]]) {
    let known = Set(Setting.all.map(\.flag))
    var path: String?
    var values: [String: [String]] = [:]
    var rest = words[...]
    while let word = rest.popFirst() {
      guard word.hasPrefix("--") else {
        throw .usage("unexpected \(word); a setting is a flag such as --bind 127.0.0.1:8008")
      }
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let flag = String(parts[0])
      guard flag == "--config" || known.contains(flag) else {
        throw .unknownSetting(name: flag, hint: Setting.hint(for: flag, among: known.sorted()), .flag(flag))
      }
      guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst() else {
        throw .usage("the flag \(flag) needs a value")
      }
      if flag == "--config" { path = value } else { values[flag, default: []].append(value) }
    }
    return (path, values)
  }

  /// An empty text is an empty list.
  private static func commaSeparated(_ text: String) -> [String] {
    text.split(separator: ",").map { word in
      String(word.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
  }
}

extension LoadedConfiguration {
  fileprivate mutating func take(_ file: ConfigurationFile, path: String) throws(ConfigurationError) {
    for entry in file.entries {
      let origin = ConfigurationOrigin.file(path: path, line: entry.line)
      if entry.name.hasPrefix(ProviderSetting.prefix) {
        try ProviderSetting.take(entry, origin, into: &configuration)
        continue
      }
      guard let setting = Setting.all.first(where: { $0.name == entry.name }) else {
        throw .unknownSetting(name: entry.name, hint: Setting.hint(for: entry.name), origin)
      }
      try take(setting, entry.values, origin)
    }
  }

  fileprivate mutating func take(
    _ setting: Setting, _ values: [String], _ origin: ConfigurationOrigin
  ) throws(ConfigurationError) {
    guard setting.read(values, &configuration) else {
      let shown = setting.isSecret ? nil : values.joined(separator: ", ")
      throw .badValue(name: setting.name, value: shown, allowed: setting.allowed, origin)
    }
    origins[setting.name] = origin
  }
}
