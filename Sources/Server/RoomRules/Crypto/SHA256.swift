import CCrypto

/// SHA-256 by OpenSSL.
package enum SHA256 {
  /// Bytes of a digest.
  package static let digestBytes = 32

  package static func digest(of bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: digestBytes)
    cryptoSHA256(bytes, bytes.count, &digest)
    return digest
  }
}
