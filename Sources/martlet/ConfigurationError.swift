/// The place that sets a value, as error messages name it.
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

/// The reason why a configuration is refused. The description is a message for the operator.
enum ConfigurationError: Error, Equatable, CustomStringConvertible {
  /// The file cannot be read.
  case unreadable(path: String, reason: String)
  /// The file is not valid YAML, or it uses features of YAML that settings do not need.
  ///
  /// `excerpt` has the lines around the problem.
  case malformed(path: String, YAMLError, excerpt: String)
  /// `hint` says what was probably meant.
  case unknownSetting(name: String, hint: String, ConfigurationOrigin)
  case repeated(name: String, ConfigurationOrigin)
  /// `value` is nil if it is a secret.
  case badValue(name: String, value: String?, allowed: String, ConfigurationOrigin)
  /// Each setting is allowed, but two of them contradict each other.
  case contradiction(String)
  /// The command line is not valid.
  case usage(String)

  var description: String {
    switch self {
    case .unreadable(let path, let reason): "cannot read the configuration file \(path): \(reason)"
    case .malformed(let path, let error, let excerpt): "\(path), \(error.place): \(error.problem)\n\(excerpt)"
    case .unknownSetting(let name, let hint, .flag(let flag)) where flag == name: "unknown setting \(name); \(hint)"
    case .unknownSetting(let name, let hint, let origin): "unknown setting \(name) (\(origin)); \(hint)"
    case .repeated(let name, let origin): "the setting \(name) is given twice (\(origin))"
    case .badValue(let name, let value, let allowed, let origin):
      "\(value.map { "\"\($0)\"" } ?? "the value") is not allowed for \(name) (\(origin)); allowed: \(allowed)"
    case .contradiction(let problem): problem
    case .usage(let problem): problem
    }
  }
}
