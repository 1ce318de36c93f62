import CCrypto

/// A public key of OpenSSL's, kept as the bytes of its SubjectPublicKeyInfo: reading them takes microseconds, and a value needs
/// no owner.
struct PublicKey: Sendable {
  /// The least that RS256 may be used with. RFC 7518 §3.3.
  static let rsaBitsMinimum: Int32 = 2_048
  /// Keys beyond it cost too much to verify with.
  static let rsaBitsLimit: Int32 = 8_192

  private let encoded: [UInt8]

  init?(pem: [UInt8]) {
    guard let source = BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else { return nil }
    defer { BIO_free(source) }
    self.init(taking: PEM_read_bio_PUBKEY(source, nil, nil, nil))
  }

  init?(rsaModulus: [UInt8], exponent: [UInt8]) {
    guard !rsaModulus.isEmpty, rsaModulus.count <= Int(Self.rsaBitsLimit) / 8 + 1, (1...8).contains(exponent.count) else {
      return nil
    }
    let (n, e) = (BN_bin2bn(rsaModulus, Int32(rsaModulus.count), nil), BN_bin2bn(exponent, Int32(exponent.count), nil))
    defer {
      BN_free(n)
      BN_free(e)
    }
    self.init(
      taking: Self.key("RSA") { builder in
        OSSL_PARAM_BLD_push_BN(builder, Self.name("n"), n) == 1 && OSSL_PARAM_BLD_push_BN(builder, Self.name("e"), e) == 1
      })
  }

  /// A point that is not on the curve is refused.
  init?(p256X x: [UInt8], y: [UInt8]) {
    guard x.count == 32, y.count == 32 else { return nil }
    // Uncompressed. SEC 1 §2.3.3.
    let point = [4] + x + y
    self.init(
      taking: point.withUnsafeBufferPointer { point in
        Self.key("EC") { builder in
          OSSL_PARAM_BLD_push_utf8_string(builder, Self.name("group"), Self.name("prime256v1"), 0) == 1
            && OSSL_PARAM_BLD_push_octet_string(builder, Self.name("pub"), point.baseAddress, point.count) == 1
        }
      })
  }

  init?(ed25519 x: [UInt8]) {
    guard x.count == 32 else { return nil }
    self.init(taking: EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, x, x.count))
  }

  /// A key of named parts. The builder keeps pointers to names and values until the key is made, so all of them outlive this.
  private static func key(_ kind: String, _ fill: (OpaquePointer) -> Bool) -> OpaquePointer? {
    guard let builder = OSSL_PARAM_BLD_new() else { return nil }
    defer { OSSL_PARAM_BLD_free(builder) }
    guard fill(builder), let parameters = OSSL_PARAM_BLD_to_param(builder) else { return nil }
    defer { OSSL_PARAM_free(parameters) }
    guard let context = EVP_PKEY_CTX_new_from_name(nil, kind, nil) else { return nil }
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard EVP_PKEY_fromdata_init(context) == 1,
      EVP_PKEY_fromdata(context, &key, cryptoPublicKeySelection(), parameters) == 1
    else { return nil }
    return key
  }

  /// The text of a literal, which is there as long as the program.
  private static func name(_ name: StaticString) -> UnsafePointer<CChar> {
    UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
  }

  private init?(taking key: OpaquePointer?) {
    guard let key else { return nil }
    defer { EVP_PKEY_free(key) }
    var start: UnsafeMutablePointer<UInt8>?
    let count = i2d_PUBKEY(key, &start)
    guard count > 0, let start else { return nil }
    encoded = Array(UnsafeBufferPointer(start: start, count: Int(count)))
    CRYPTO_free(start, nil, 0)
  }

  /// Whether the algorithm is one of this kind of key, and the key is strong enough for it.
  func fits(_ algorithm: JSONWebKey.Algorithm) -> Bool {
    withKey { key in
      switch algorithm {
      case .hs256: false
      case .rs256:
        EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA
          && (Self.rsaBitsMinimum...Self.rsaBitsLimit).contains(EVP_PKEY_get_bits(key))
      case .es256: EVP_PKEY_get_base_id(key) == EVP_PKEY_EC && Self.isP256(key)
      case .edDSA: EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519
      }
    } ?? false
  }

  func verifies(_ signature: [UInt8], of message: [UInt8], _ algorithm: JSONWebKey.Algorithm) -> Bool {
    guard let signature = algorithm == .es256 ? Self.encoded(ecdsa: signature) : signature else { return false }
    return withKey { key in
      guard let context = EVP_MD_CTX_new() else { return false }
      defer { EVP_MD_CTX_free(context) }
      // RSA is PKCS #1 v1.5 unless asked otherwise; Ed25519 brings its own hash.
      let hash = algorithm == .edDSA ? nil : EVP_sha256()
      guard EVP_DigestVerifyInit(context, nil, hash, nil, key) == 1 else { return false }
      return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    } ?? false
  }

  private func withKey<Value>(_ body: (OpaquePointer) -> Value) -> Value? {
    encoded.withUnsafeBufferPointer { encoded in
      var start = encoded.baseAddress
      guard let key = d2i_PUBKEY(nil, &start, encoded.count) else { return nil }
      defer {
        EVP_PKEY_free(key)
        // A refused signature leaves its reasons in the thread's queue.
        ERR_clear_error()
      }
      return body(key)
    }
  }

  private static func isP256(_ key: OpaquePointer) -> Bool {
    var name = [CChar](repeating: 0, count: 32)
    guard EVP_PKEY_get_group_name(key, &name, name.count, nil) == 1 else { return false }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) == "prime256v1"
  }

  /// The two halves of a signature as OpenSSL wants them, in DER. RFC 7518 §3.4.
  private static func encoded(ecdsa signature: [UInt8]) -> [UInt8]? {
    guard signature.count == 64, let pair = ECDSA_SIG_new() else { return nil }
    defer { ECDSA_SIG_free(pair) }
    let (r, s) = (Array(signature[..<32]), Array(signature[32...]))
    // The pair owns both numbers from here on.
    guard ECDSA_SIG_set0(pair, BN_bin2bn(r, 32, nil), BN_bin2bn(s, 32, nil)) == 1 else { return nil }
    var start: UnsafeMutablePointer<UInt8>?
    let count = i2d_ECDSA_SIG(pair, &start)
    guard count > 0, let start else { return nil }
    defer { CRYPTO_free(start, nil, 0) }
    return Array(UnsafeBufferPointer(start: start, count: Int(count)))
  }
}
