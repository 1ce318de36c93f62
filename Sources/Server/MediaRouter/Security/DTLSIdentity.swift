import CSSL

/// OpenSSL refused to make a key, a certificate or a context.
package struct DTLSIdentityError: Error {}

/// The certificate of this process for calls: self-signed, P-256, made anew at each start. RFC 8827 §6.5.
// @unchecked: an SSL_CTX is not changed after init; OpenSSL counts references to it atomically.
package final class DTLSIdentity: @unchecked Sendable {
  package let fingerprint: Fingerprint
  let context: OpaquePointer

  /// - Throws: when OpenSSL lacks what is needed.
  package convenience init() throws(DTLSIdentityError) { try self.init(profiles: [.aes128GCM, .aes128CounterSHA1]) }

  /// - Parameter profiles: in the order of preference.
  init(profiles: [SRTPProfile]) throws(DTLSIdentityError) {
    guard let context = SSL_CTX_new(DTLS_method()) else { throw DTLSIdentityError() }
    self.context = context
    guard let key = ssl_new_p256_key() else { throw DTLSIdentityError() }
    defer { EVP_PKEY_free(key) }
    guard let certificate = Self.certificate(key) else { throw DTLSIdentityError() }
    defer { X509_free(certificate) }
    guard let fingerprint = Fingerprint(of: certificate), SSL_CTX_use_certificate(context, certificate) == 1,
      SSL_CTX_use_PrivateKey(context, key) == 1,
      // 0 is success.
      SSL_CTX_set_tlsext_use_srtp(context, profiles.map(\.nameForOpenSSL).joined(separator: ":")) == 0,
      SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1
    else { throw DTLSIdentityError() }
    self.fingerprint = fingerprint
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, ssl_accept_certificate)
  }

  deinit { SSL_CTX_free(context) }

  private static func certificate(_ key: OpaquePointer) -> OpaquePointer? {
    guard let certificate = X509_new() else { return nil }
    let name = X509_get_subject_name(certificate)
    let day = 86_400
    let serial = Int(UInt32.random(in: 1...0x7FFF_FFFF))
    guard X509_set_version(certificate, 2) == 1,
      ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial) == 1,
      X509_gmtime_adj(X509_getm_notBefore(certificate), -day) != nil,
      X509_gmtime_adj(X509_getm_notAfter(certificate), 365 * day) != nil,
      X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, "martlet", -1, -1, 0) == 1,
      X509_set_issuer_name(certificate, name) == 1, X509_set_pubkey(certificate, key) == 1,
      X509_sign(certificate, key, EVP_sha256()) > 0
    else {
      X509_free(certificate)
      return nil
    }
    return certificate
  }
}

extension SRTPProfile {
  fileprivate var nameForOpenSSL: String {
    switch self {
    case .aes128GCM: "SRTP_AEAD_AES_128_GCM"
    case .aes128CounterSHA1: "SRTP_AES128_CM_SHA1_80"
    }
  }
}
