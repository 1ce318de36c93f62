import Glibc

package enum FolderOnDisk {
  /// Why a folder cannot be made.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// Like `mkdir -p`, for its owner only.
  package static func make(_ path: String) throws(Failure) {
    var made = path.hasPrefix("/") ? "/" : ""
    for part in path.split(separator: "/") {
      made += part + "/"
      guard mkdir(made, 0o700) != 0, errno != EEXIST else { continue }
      throw Failure(description: "\(made) cannot be made: \(String(cString: strerror(errno)))")
    }
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
