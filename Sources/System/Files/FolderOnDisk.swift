import Glibc

/// What every program does with folders.
package enum FolderOnDisk {
  /// Why a folder cannot be made.
  package struct Failure: Error, CustomStringConvertible {
    /// The folder that could not be made: the one that was wanted, or one above it.
    package let path: String
    /// The system's `errno`.
    package let code: Int32

    /// In the system's words.
    package var reason: String { String(cString: strerror(code)) }

    package var description: String { "\(path) cannot be made: \(reason)" }
  }

  /// Like `mkdir -p`, for its owner only.
  package static func make(_ path: String) throws(Failure) {
    var made = path.hasPrefix("/") ? "/" : ""
    for part in path.split(separator: "/") {
      made += part + "/"
      guard mkdir(made, 0o700) != 0, errno != EEXIST else { continue }
      throw Failure(path: made, code: errno)
    }
  }

  /// Returns the names in a folder, sorted, without `.` and `..`; nil if it cannot be read, with the reason in `errno`.
  package static func names(in path: String) -> [String]? {
    guard let folder = opendir(path) else { return nil }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// Replaces a file as a whole. Returns false if it stays as it was.
  package static func replace(_ path: String, with bytes: [UInt8]) -> Bool {
    let temporary = path + ".new"
    let file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { return false }
    let isWritten = write(file, bytes, bytes.count) == bytes.count && fsync(file) == 0
    close(file)
    return isWritten && rename(temporary, path) == 0
  }
}
