/// The reason why the server cannot start. The description is a message for the operator.
enum StartError: Error, Equatable, CustomStringConvertible {
  /// The server cannot use `data_dir`.
  case directory(path: String, reason: String)
  /// Another process uses the same `data_dir`.
  case directoryInUse(path: String)
  /// The server cannot listen on an address. `setting` is the name of the setting that has it, such as `bind`.
  case address(setting: String, BindAddress, reason: String)
  /// Another error, such as a damaged database.
  case failed(String)

  var description: String {
    switch self {
    case .directory(let path, let reason): "cannot use the data_dir \(path): \(reason)"
    case .directoryInUse(let path): "the data_dir \(path) is in use by another Martlet process; stop that process first"
    case .address(let setting, let address, let reason): "cannot listen on \(address) (\(setting)): \(reason)"
    case .failed(let reason): reason
    }
  }
}
