import Glibc

/// A small file in the data folder that only its owner may read: what the server must have in clear and the database shall not have.
package enum SecretFile {
  private static let bytesLimit = 512

  /// nil if the file does not exist. Throws `SecretFileError`.
  package static func read(_ path: String) throws(SecretFileError) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw SecretFileError(path: path, reason: String(cString: strerror(errno)))
    }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: bytesLimit)
    let count = Glibc.read(descriptor, &bytes, bytes.count)
    guard count >= 0 else { throw SecretFileError(path: path, reason: String(cString: strerror(errno))) }
    return Array(bytes[..<count])
  }

  /// Whole or not at all: written beside and renamed, synced before. Throws `SecretFileError`.
  package static func write(_ bytes: [UInt8], to path: String) throws(SecretFileError) {
    let beside = path + ".new"
    let descriptor = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw SecretFileError(path: path, reason: String(cString: strerror(errno))) }
    let written = Glibc.write(descriptor, bytes, bytes.count)
    let isSynced = fsync(descriptor) == 0
    close(descriptor)
    guard written == bytes.count, isSynced, rename(beside, path) == 0 else {
      throw SecretFileError(path: path, reason: String(cString: strerror(errno)))
    }
  }
}

/// A file of a secret cannot be used.
package struct SecretFileError: Error, CustomStringConvertible {
  let path: String
  let reason: String

  package init(path: String, reason: String) {
    self.path = path
    self.reason = reason
  }

  package var description: String { "the secret in \(path): \(reason)" }
}
