import Addresses
import CSSL

/// Why a certificate is of no use.
package enum TLSCertificateError: Error, Equatable, CustomStringConvertible {
  /// There is no certificate, or one of the chain is broken.
  case noCertificate
  case noKey
  /// The key is another certificate's.
  case otherKey
  /// Clients that ask for this host would not take it.
  case otherHost(String)
  /// This system's OpenSSL refuses what our TLS is, whatever the certificate.
  case noTLS

  package var description: String {
    switch self {
    case .noCertificate: "there is no certificate in it that can be read (PEM)"
    case .noKey: "there is no private key in it that can be read (PEM, without a password)"
    case .otherKey: "it is not the key of the certificate"
    case .otherHost(let host): "the certificate is not for the host \(host)"
    case .noTLS: "OpenSSL on this system allows no TLS 1.2 or 1.3 with AES-GCM or ChaCha20"
    }
  }
}

/// A certificate with its chain and key, and what a server's TLS is here: 1.2 or 1.3, no renegotiation, nothing kept of clients that have gone.
// @unchecked: an SSL_CTX is not changed after init; OpenSSL counts references to it atomically.
package final class TLSCertificate: @unchecked Sendable {
  /// What a chain has at most, the server's own included.
  static let chainLimit = 10

  let context: OpaquePointer
  /// Equal for equal chains and keys.
  package let digest: [UInt8]

  /// - Parameters:
  ///   - chain: PEM, the server's own first; other things between them do not matter.
  ///   - key: PEM.
  ///   - host: the name or address that clients ask for.
  package init(chain: [UInt8], key: [UInt8], host: String) throws(TLSCertificateError) {
    guard let context = SSL_CTX_new(TLS_server_method()) else { throw .noTLS }
    self.context = context
    digest = Self.digest(of: chain) + Self.digest(of: key)
    // What OpenSSL says of an end of a file must not be taken for the trouble of a connection.
    defer { ERR_clear_error() }
    guard ssl_limit_server(context) == 1, SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1 else {
      throw .noTLS
    }
    try Self.read(chain) { (bio) throws(TLSCertificateError) in try useChain(bio, host) }
    try Self.read(key) { (bio) throws(TLSCertificateError) in
      guard let key = PEM_read_bio_PrivateKey(bio, nil, ssl_no_password, nil) else { throw .noKey }
      defer { EVP_PKEY_free(key) }
      guard SSL_CTX_use_PrivateKey(context, key) == 1, SSL_CTX_check_private_key(context) == 1 else { throw .otherKey }
    }
  }

  deinit { SSL_CTX_free(context) }

  private func useChain(_ bio: OpaquePointer, _ host: String) throws(TLSCertificateError) {
    var count = 0
    while count < Self.chainLimit, let certificate = PEM_read_bio_X509(bio, nil, ssl_no_password, nil) {
      defer { X509_free(certificate) }
      count += 1
      guard count == 1 else {
        guard ssl_add_chain_certificate(context, certificate) == 1 else { throw .noCertificate }
        continue
      }
      guard SSL_CTX_use_certificate(context, certificate) == 1 else { throw .noCertificate }
      let isFor =
        IPAddress(host) != nil
        ? X509_check_ip_asc(certificate, host, 0) : X509_check_host(certificate, host, host.utf8.count, 0, nil)
      guard isFor == 1 else { throw .otherHost(host) }
    }
    guard count > 0, ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE || count == Self.chainLimit else {
      throw .noCertificate
    }
  }

  private static func digest(of bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil)
    return digest
  }

  private static func read(
    _ bytes: [UInt8], _ body: (OpaquePointer) throws(TLSCertificateError) -> Void
  ) throws(TLSCertificateError) {
    guard let bio = BIO_new(BIO_s_mem()) else { fatalError("out of memory") }
    defer { BIO_free(bio) }
    ERR_clear_error()
    guard let count = Int32(exactly: bytes.count), count == 0 || BIO_write(bio, bytes, count) == count else {
      fatalError("out of memory")
    }
    try body(bio)
  }
}
