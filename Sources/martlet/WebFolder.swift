import Glibc

/// Finds the web client's files where `web_dir` is not set.
enum WebFolder {
  /// `web` beside the build folder of this program (`.build/web`), or `share/martlet/web` beside its `bin`; nil if neither is there.
  static func find() -> String? {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    guard count > 0 else { return nil }
    let program = String(decoding: buffer[..<count], as: UTF8.self)
    guard let slash = program.lastIndex(of: "/") else { return nil }
    let folder = program[..<slash]
    return ["\(folder)/../../web", "\(folder)/../share/martlet/web"].first { access("\($0)/app.wasm", R_OK) == 0 }
  }
}
