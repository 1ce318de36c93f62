import CSSL

/// A certificate for tests, made anew, with the root that signed it behind it.
package struct TestCertificate: Sendable {
  /// PEM: the certificate, then the root's.
  package let chain: [UInt8]
  package let key: [UInt8]
  package let root: [UInt8]

  /// - Parameters:
  ///   - hosts: names, and addresses of IPv4.
  ///   - password: what the key is sealed with; nil for a key as it is.
  package init(_ hosts: String..., password: String? = nil) {
    let (rootKey, key) = (ssl_new_p256_key()!, ssl_new_p256_key()!)
    let root = Self.certificate(
      rootKey, name: "Test root", NID_basic_constraints, "critical,CA:TRUE", signer: rootKey, issuer: nil)
    let names = hosts.map { $0.utf8.allSatisfy { $0 < 0x3A } ? "IP:\($0)" : "DNS:\($0)" }.joined(separator: ",")
    let own = Self.certificate(key, name: "Test", NID_subject_alt_name, names, signer: rootKey, issuer: root)
    defer {
      for certificate in [root, own] { X509_free(certificate) }
      for key in [rootKey, key] { EVP_PKEY_free(key) }
    }
    self.root = Self.text { PEM_write_bio_X509($0, root) }
    chain = Self.text { PEM_write_bio_X509($0, own) } + self.root
    self.key = Self.text { bio in
      guard let password else { return PEM_write_bio_PrivateKey(bio, key, nil, nil, 0, nil, nil) }
      return PEM_write_bio_PrivateKey(bio, key, EVP_aes_256_cbc(), password, Int32(password.utf8.count), nil, nil)
    }
  }

  private static func certificate(
    _ key: OpaquePointer, name: String, _ extensionID: Int32, _ value: String, signer: OpaquePointer, issuer: OpaquePointer?
  ) -> OpaquePointer {
    let certificate = X509_new()!
    let subject = X509_get_subject_name(certificate)
    let extra = X509V3_EXT_conf_nid(nil, nil, extensionID, value)
    defer { X509_EXTENSION_free(extra) }
    guard X509_set_version(certificate, 2) == 1,
      ASN1_INTEGER_set(X509_get_serialNumber(certificate), Int.random(in: 1...0x7FFF_FFFF)) == 1,
      X509_gmtime_adj(X509_getm_notBefore(certificate), -3_600) != nil,
      X509_gmtime_adj(X509_getm_notAfter(certificate), 86_400) != nil,
      X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, name, -1, -1, 0) == 1,
      X509_set_issuer_name(certificate, issuer.map { X509_get_subject_name($0) } ?? subject) == 1,
      X509_set_pubkey(certificate, key) == 1, X509_add_ext(certificate, extra, -1) == 1,
      X509_sign(certificate, signer, EVP_sha256()) > 0
    else { fatalError("OpenSSL makes no certificate") }
    return certificate
  }

  private static func text(_ write: (OpaquePointer) -> Int32) -> [UInt8] {
    let bio = BIO_new(BIO_s_mem())!
    defer { BIO_free(bio) }
    guard write(bio) == 1 else { fatalError("OpenSSL writes no PEM") }
    var bytes = [UInt8](repeating: 0, count: ssl_pending_bytes(bio))
    guard BIO_read(bio, &bytes, Int32(bytes.count)) == bytes.count else { fatalError("OpenSSL gives no PEM") }
    return bytes
  }
}
