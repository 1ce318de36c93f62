import CLinux
import Glibc
import JSON
import RoomRules

/// The server's signing key in `<data directory>/signing.key`, mode 0600; made at the first start.
///
/// Whoever has it can speak as this server, and without it the server is another one to those that know it: keep a copy.
struct SigningKeyFile {
  let key: SigningKey

  /// Throws where the file cannot be read, is no key, or cannot be made.
  init(in directory: String) throws {
    let path = directory + "/signing.key"
    if let line = try Self.read(path) {
      guard let key = SigningKey(line: line) else { throw SigningKeyFileError(path: path, reason: "it holds no signing key") }
      self.key = key
      return
    }
    var seed = [UInt8](repeating: 0, count: SigningKey.seedBytes)
    var generator = SystemRandomNumberGenerator()
    for index in seed.indices { seed[index] = UInt8.random(in: .min ... .max, using: &generator) }
    guard let key = SigningKey(seed: seed, version: "a1") else { preconditionFailure("32 bytes are a seed") }
    try Self.write(Array((key.line.string + "\n").utf8), to: path)
    self.key = key
  }

  private static func read(_ path: String) throws -> ByteString? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw SigningKeyFileError(path: path, reason: String(cString: strerror(errno)))
    }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 512)
    let count = Glibc.read(descriptor, &bytes, bytes.count)
    guard count >= 0 else { throw SigningKeyFileError(path: path, reason: String(cString: strerror(errno))) }
    return ByteString(decoding: bytes[..<count])
  }

  /// Whole or not at all: written beside and renamed, synced before.
  private static func write(_ bytes: [UInt8], to path: String) throws {
    let beside = path + ".new"
    let descriptor = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw SigningKeyFileError(path: path, reason: String(cString: strerror(errno))) }
    let written = Glibc.write(descriptor, bytes, bytes.count)
    let isSynced = fsync(descriptor) == 0
    close(descriptor)
    guard written == bytes.count, isSynced, rename(beside, path) == 0 else {
      throw SigningKeyFileError(path: path, reason: String(cString: strerror(errno)))
    }
  }
}

/// The signing key cannot be used.
package struct SigningKeyFileError: Error, CustomStringConvertible {
  let path: String
  let reason: String

  package var description: String { "the signing key \(path): \(reason)" }
}
