import Glibc

/// The folder in which this program lies, and what belongs to it.
enum ProgramFolder {
  /// nil where the system does not tell.
  static let path: String? = {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    guard count > 0 else { return nil }
    let program = String(decoding: buffer[..<count], as: UTF8.self)
    return program.lastIndex(of: "/").map { String(program[..<$0]) }
  }()

  /// A program beside this one; nil if it is not there.
  static func file(_ name: String) -> String? {
    guard let path, access("\(path)/\(name)", X_OK) == 0 else { return nil }
    return "\(path)/\(name)"
  }
}

/// Finds the web client's files where `web_dir` is not set.
enum WebFolder {
  /// `web` beside the build folder of this program (`.build/web`), or `share/martlet/web` beside its `bin`; nil if neither
  /// is there.
  static func find() -> String? {
    guard let folder = ProgramFolder.path else { return nil }
    return ["\(folder)/../../web", "\(folder)/../share/martlet/web"].first { access("\($0)/app.wasm", R_OK) == 0 }
  }
}
