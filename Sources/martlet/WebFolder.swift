import Glibc
import Shell

/// Finds the files of the web client if `web_dir` is not set.
enum WebFolder {
  /// Returns `web` beside the build folder of this program (`.build/web`), or `share/martlet/web` beside its `bin`; nil if neither
  /// exists.
  static func find() -> String? {
    guard let folder = ProgramFolder.path else { return nil }
    return ["\(folder)/../../web", "\(folder)/../share/martlet/web"].first { access("\($0)/app.wasm", R_OK) == 0 }
  }
}
