import JSON
import RoomRules
import ServerCore

/// The server's signing key in `<data directory>/signing.key`, mode 0600; made at the first start.
///
/// Anybody with the key can act as this server. If it is lost, servers that know this one no longer recognise it: keep a copy.
package struct SigningKeyFile {
  package let key: SigningKey

  /// Throws `SecretFileError` where the file cannot be read, is no key, or cannot be made.
  package init(in directory: String) throws(SecretFileError) {
    let path = directory + "/signing.key"
    if let line = try SecretFile.read(path) {
      guard let key = SigningKey(line: ByteString(decoding: line)) else {
        throw SecretFileError(path: path, reason: "it holds no signing key")
      }
      self.key = key
      return
    }
    var seed = [UInt8](repeating: 0, count: SigningKey.seedBytes)
    var generator = SystemRandomNumberGenerator()
    for index in seed.indices { seed[index] = UInt8.random(in: .min ... .max, using: &generator) }
    guard let key = SigningKey(seed: seed, version: "a1") else { preconditionFailure("32 bytes are a seed") }
    try SecretFile.write(Array((key.line.string + "\n").utf8), to: path)
    self.key = key
  }
}
