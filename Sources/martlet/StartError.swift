/// Why the program cannot start or do what it was asked. The description is one sentence for the operator.
enum StartError: Error, Equatable, CustomStringConvertible {
  /// `data_dir` cannot be used.
  case directory(path: String, reason: String)
  /// Another process uses the same `data_dir`.
  case directoryInUse(path: String)
  /// An address of `bind` or `metrics_bind` cannot be listened on.
  case address(setting: String, BindAddress, reason: String)
  /// Anything below, such as a database that is damaged.
  case failed(String)

  var description: String {
    switch self {
    case .directory(let path, let reason): "cannot use the data_dir \(path): \(reason)"
    case .directoryInUse(let path): "the data_dir \(path) is in use by another martlet; stop that one first"
    case .address(let setting, let address, let reason): "cannot listen on \(address) (\(setting)): \(reason)"
    case .failed(let reason): reason
    }
  }
}
