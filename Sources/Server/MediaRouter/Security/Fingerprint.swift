import CSSL

/// The digest of a certificate, as SDP announces it. RFC 8122 §5.
package struct Fingerprint: Sendable, Hashable, CustomStringConvertible {
  enum Algorithm: String, Sendable, CaseIterable {
    case sha256 = "sha-256"
    case sha384 = "sha-384"
    case sha512 = "sha-512"

    var digest: OpaquePointer? {
      switch self {
      case .sha256: EVP_sha256()
      case .sha384: EVP_sha384()
      case .sha512: EVP_sha512()
      }
    }

    var digestBytes: Int {
      switch self {
      case .sha256: 32
      case .sha384: 48
      case .sha512: 64
      }
    }
  }

  let algorithm: Algorithm
  let bytes: [UInt8]

  /// `sha-256 AB:CD:…` in either case; nil for another algorithm or length. Older algorithms are refused.
  package init?(_ text: String) {
    let parts = text.split(separator: " ")
    guard parts.count == 2, let algorithm = Algorithm(rawValue: parts[0].lowercased()) else { return nil }
    let pairs = parts[1].split(separator: ":", omittingEmptySubsequences: false)
    let bytes = pairs.compactMap { $0.utf8.count == 2 && $0.first != "+" ? UInt8($0, radix: 16) : nil }
    guard pairs.count == algorithm.digestBytes, bytes.count == pairs.count else { return nil }
    self.algorithm = algorithm
    self.bytes = bytes
  }

  /// Of a certificate of OpenSSL's.
  init?(_ algorithm: Algorithm = .sha256, of certificate: OpaquePointer) {
    var bytes = [UInt8](repeating: 0, count: 64)
    var count: UInt32 = 0
    guard X509_digest(certificate, algorithm.digest, &bytes, &count) == 1, Int(count) == algorithm.digestBytes else {
      return nil
    }
    self.algorithm = algorithm
    self.bytes = Array(bytes[..<Int(count)])
  }

  package var description: String {
    let digits = Array("0123456789ABCDEF")
    return algorithm.rawValue + " " + bytes.map { "\(digits[Int($0 >> 4)])\(digits[Int($0 & 15)])" }.joined(separator: ":")
  }
}
