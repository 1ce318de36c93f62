import CSodium
import RoomRules

/// Any number of secrets out of one that is kept in a file of the data folder, mode 0600: the database holds only what they are for, so
/// that a reader of the database, or of a copy, has no secret.
package struct DerivedSecrets: Sendable {
  private static let keyBytes = 32

  private let key: [UInt8]

  /// Reads the file or, at the first start, makes it. Throws `SecretFileError` where that fails or it holds something else.
  package init(in directory: String, file name: StaticString) throws(SecretFileError) {
    let path = directory + "/\(name)"
    if let line = try SecretFile.read(path) {
      let text = line.prefix { $0 != UInt8(ascii: "\n") }
      guard let key = UnpaddedBase64.decode(text), key.count == Self.keyBytes else {
        throw SecretFileError(path: path, reason: "it holds no key")
      }
      self.key = key
      return
    }
    var key = [UInt8](repeating: 0, count: Self.keyBytes)
    randombytes_buf(&key, key.count)
    try SecretFile.write(UnpaddedBase64.encode(key) + [UInt8(ascii: "\n")], to: path)
    self.key = key
  }

  /// The secret of a purpose: 64 hexadecimal digits, always the same ones.
  package func secret(for purpose: String) -> String {
    KeyedHash.hexadecimal(KeyedHash.sha256.digest(of: Array(purpose.utf8), key: key))
  }
}
