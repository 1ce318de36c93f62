import Glibc

/// Whose a file is.
package enum FileOwner {
  /// Returns the name of the user who owns the file, or the number of a user without a name; nil if there is no such file.
  package static func name(of path: String) -> String? {
    var status = stat()
    return stat(path, &status) == 0 ? name(status.st_uid) : nil
  }

  /// Returns what a user does about a refused permission; nil if the file, or the nearest folder above it, is the user's own.
  package static func hint(for path: String) -> String? {
    var path = path[...]
    var status = stat()
    while stat(path.isEmpty ? "." : String(path), &status) != 0 {
      guard !path.isEmpty, path != "/" else { return nil }
      guard let slash = path.lastIndex(of: "/") else {
        path = ""
        continue
      }
      path = slash == path.startIndex ? "/" : path[..<slash]
    }
    guard status.st_uid != geteuid() else { return nil }
    let owner = name(status.st_uid)
    let found = path.isEmpty ? "this folder" : String(path)
    guard status.st_uid != 0 else { return "\(found) belongs to root" }
    return "\(found) belongs to \(owner); run this as that user: sudo -u \(owner) martlet …"
  }

  private static func name(_ user: uid_t) -> String {
    getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "#\(user)"
  }
}
