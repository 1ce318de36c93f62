import Glibc

/// A folder that is there as long as this object, and then is not.
final class TemporaryFolder: Sendable {
  let path: String

  init() {
    var template = Array("/tmp/martlet-homeserver-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { preconditionFailure("/tmp cannot be written") }
    path = String(cString: made)
  }

  deinit { Self.remove(path) }

  private static func remove(_ path: String) {
    guard unlink(path) != 0, let entries = opendir(path) else { return }
    while let entry = readdir(entries) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != ".", name != ".." { remove(path + "/" + name) }
    }
    closedir(entries)
    rmdir(path)
  }
}
