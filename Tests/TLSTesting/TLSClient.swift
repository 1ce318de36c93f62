import CSSL

/// A client's end of TLS by OpenSSL, through memory, which checks the server's certificate.
package final class TLSClient {
  package enum Version: Int32, Sendable { case v11 = 0x0302, v12 = 0x0303, v13 = 0x0304 }

  private let context: OpaquePointer
  private let ssl: OpaquePointer
  private let input: OpaquePointer
  private let made: OpaquePointer
  /// It heard the server's goodbye, or something that cannot be.
  package private(set) var isOver = false

  /// - Parameter root: the certificate that it trusts, in PEM.
  package init(_ version: Version = .v13, root: [UInt8], host: String = "turn.example.org") {
    context = SSL_CTX_new(TLS_client_method())!
    ssl_allow_only(context, version.rawValue)
    // Otherwise OpenSSL itself refuses what is old.
    if version == .v11 { SSL_CTX_set_cipher_list(context, "DEFAULT:@SECLEVEL=0") }
    let bio = BIO_new_mem_buf(root, Int32(root.count))!
    let certificate = PEM_read_bio_X509(bio, nil, ssl_no_password, nil)!
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate)
    X509_free(certificate)
    BIO_free(bio)
    ssl = SSL_new(context)!
    (input, made) = (BIO_new(BIO_s_mem())!, BIO_new(BIO_s_mem())!)
    SSL_set_bio(ssl, input, made)
    SSL_set_verify(ssl, SSL_VERIFY_PEER, nil)
    SSL_set1_host(ssl, host)
    SSL_set_connect_state(ssl)
    step()
  }

  deinit {
    SSL_free(ssl)
    SSL_CTX_free(context)
  }

  package var isEstablished: Bool { SSL_is_init_finished(ssl) == 1 }

  /// How many certificates the server has shown.
  package var chainCount: Int { Int(OPENSSL_sk_num(SSL_get_peer_cert_chain(ssl))) }

  /// Takes what the server sent; the plaintext in it.
  package func receive(_ bytes: [UInt8]) -> [UInt8] {
    if !bytes.isEmpty { precondition(BIO_write(input, bytes, Int32(bytes.count)) == bytes.count) }
    return step()
  }

  /// What is to be sent; it is taken out.
  package func take() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: ssl_pending_bytes(made))
    if !bytes.isEmpty { precondition(BIO_read(made, &bytes, Int32(bytes.count)) == bytes.count) }
    return bytes
  }

  /// Makes records of at most 16 KB of it.
  package func write(_ bytes: [UInt8]) {
    ERR_clear_error()
    precondition(SSL_write(ssl, bytes, Int32(bytes.count)) == bytes.count)
  }

  package func sayGoodbye() {
    ERR_clear_error()
    SSL_shutdown(ssl)
  }

  /// Wants another handshake on the same connection, which TLS 1.2 has.
  package func renegotiate() {
    ERR_clear_error()
    SSL_renegotiate(ssl)
    SSL_do_handshake(ssl)
  }

  /// Wants new keys, and the server's to be new too, which TLS 1.3 has.
  package func changeKeys() {
    ERR_clear_error()
    precondition(SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED) == 1)
    SSL_do_handshake(ssl)
  }

  @discardableResult private func step() -> [UInt8] {
    var plaintext: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 16 << 10)
    while !isOver {
      ERR_clear_error()
      let count = SSL_read(ssl, &bytes, Int32(bytes.count))
      if count > 0 {
        plaintext += bytes.prefix(Int(count))
      } else if SSL_get_error(ssl, count) == SSL_ERROR_WANT_READ {
        break
      } else {
        isOver = true
      }
    }
    return plaintext
  }
}
