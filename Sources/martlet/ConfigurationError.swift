/// Where a value comes from, as messages name it.
enum ConfigurationOrigin: Sendable, Equatable, CustomStringConvertible {
  case file(path: String, line: Int)
  case environment(variable: String)
  case flag(String)

  var description: String {
    switch self {
    case .file(let path, let line): "\(path), line \(line)"
    case .environment(let variable): "environment variable \(variable)"
    case .flag(let flag): "flag \(flag)"
    }
  }
}

/// Why a configuration is refused. The description is one sentence for the operator.
enum ConfigurationError: Error, Equatable, CustomStringConvertible {
  /// The file cannot be read.
  case unreadable(path: String, reason: String)
  /// The file is no YAML, or YAML of a kind that settings do not use.
  case malformed(path: String, line: Int, problem: String)
  case unknownSetting(name: String, ConfigurationOrigin)
  case repeated(name: String, ConfigurationOrigin)
  /// `value` is nil if it is a secret.
  case badValue(name: String, value: String?, allowed: String, ConfigurationOrigin)
  /// Settings that are each allowed do not go together.
  case contradiction(String)
  /// The command line is not understood.
  case usage(String)

  var description: String {
    switch self {
    case .unreadable(let path, let reason): "cannot read the configuration file \(path): \(reason)"
    case .malformed(let path, let line, let problem): "\(path), line \(line): \(problem)"
    case .unknownSetting(let name, .flag(let flag)) where flag == name:
      "unknown setting \(name); martlet help lists all settings"
    case .unknownSetting(let name, let origin): "unknown setting \(name) (\(origin)); martlet help lists all settings"
    case .repeated(let name, let origin): "the setting \(name) is given twice (\(origin))"
    case .badValue(let name, let value, let allowed, let origin):
      "\(value.map { "\"\($0)\"" } ?? "the value") is not allowed for \(name) (\(origin)); allowed: \(allowed)"
    case .contradiction(let problem): problem
    case .usage(let problem): problem
    }
  }
}
