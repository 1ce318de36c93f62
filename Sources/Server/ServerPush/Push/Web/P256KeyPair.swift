import CCrypto

/// A key pair on the curve P-256, by OpenSSL: signs as ES256 does and agrees on secrets.
///
/// Kept as bytes: reading them takes microseconds, and a value needs no owner.
struct P256KeyPair: Sendable {
  /// Uncompressed: 4, then both coordinates. SEC 1 §2.3.3.
  static let publicKeyBytes = 65

  /// `publicKeyBytes` bytes.
  let publicKey: [UInt8]
  /// DER. Secret.
  private let encoded: [UInt8]

  /// A new one.
  init() {
    guard let key = P256.generate(), let pair = P256KeyPair(key) else { preconditionFailure("OpenSSL has no P-256") }
    self = pair
  }

  /// nil for what is no private key of this curve.
  init?(pem: [UInt8]) {
    guard let source = BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else { return nil }
    defer { BIO_free(source) }
    guard let key = P256.owned(PEM_read_bio_PrivateKey(source, nil, nil, nil)) else { return nil }
    self.init(key)
  }

  private init?(_ key: P256.Key) {
    guard let publicKey = key.publicKey, let encoded = key.privateDER else { return nil }
    self.publicKey = publicKey
    self.encoded = encoded
  }

  /// What `init(pem:)` reads: PKCS #8. Secret.
  var pem: [UInt8]? {
    guard let key = P256.privateKey(encoded), let sink = BIO_new(BIO_s_mem()) else { return nil }
    defer { BIO_free(sink) }
    guard PEM_write_bio_PrivateKey(sink, key.pointer, nil, nil, 0, nil, nil) == 1 else { return nil }
    var pem = [UInt8](repeating: 0, count: 1_024)
    let count = BIO_read(sink, &pem, Int32(pem.count))
    return count > 0 ? Array(pem.prefix(Int(count))) : nil
  }

  /// 64 bytes: both halves of the signature of SHA-256 of the message. RFC 7518 §3.4.
  func sign(_ message: [UInt8]) -> [UInt8]? {
    guard let key = P256.privateKey(encoded), let context = EVP_MD_CTX_new() else { return nil }
    defer { EVP_MD_CTX_free(context) }
    var signature = [UInt8](repeating: 0, count: 128)
    var count = signature.count
    guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key.pointer) == 1,
      EVP_DigestSign(context, &signature, &count, message, message.count) == 1
    else { return nil }
    return P256.halves(of: Array(signature.prefix(count)))
  }

  /// Returns the 32 bytes that both sides know: ECDH. nil if the other's public key is not valid.
  func agree(with publicKey: [UInt8]) -> [UInt8]? {
    guard let own = P256.privateKey(encoded), let other = P256.publicKey(publicKey),
      let context = EVP_PKEY_CTX_new(own.pointer, nil)
    else { return nil }
    defer { EVP_PKEY_CTX_free(context) }
    var secret = [UInt8](repeating: 0, count: 32)
    var count = secret.count
    guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer(context, other.pointer) == 1,
      EVP_PKEY_derive(context, &secret, &count) == 1, count == secret.count
    else { return nil }
    return secret
  }

  /// Whether these bytes are a public key: `publicKeyBytes` of them, and a point on the curve.
  static func isPublicKey(_ bytes: [UInt8]) -> Bool { P256.publicKey(bytes) != nil }
}

/// OpenSSL's keys of the curve.
private enum P256 {
  /// Frees it.
  final class Key {
    let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { EVP_PKEY_free(pointer) }

    var publicKey: [UInt8]? {
      var point = [UInt8](repeating: 0, count: P256KeyPair.publicKeyBytes + 1)
      var count = 0
      guard
        EVP_PKEY_get_octet_string_param(pointer, OSSL_PKEY_PARAM_PUB_KEY, &point, point.count, &count) == 1,
        count == P256KeyPair.publicKeyBytes, point[0] == 4
      else { return nil }
      return Array(point.prefix(count))
    }

    var privateDER: [UInt8]? {
      guard EVP_PKEY_get_base_id(pointer) == EVP_PKEY_EC else { return nil }
      return bytes { i2d_PrivateKey(self.pointer, &$0) }
    }
  }

  static func owned(_ pointer: OpaquePointer?) -> Key? {
    defer { ERR_clear_error() }
    return pointer.map { Key($0) }
  }

  static func generate() -> Key? {
    guard let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { return nil }
    defer { EVP_PKEY_CTX_free(context) }
    var pointer: OpaquePointer?
    guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_CTX_set_group_name(context, "prime256v1") == 1,
      EVP_PKEY_generate(context, &pointer) == 1
    else { return nil }
    return owned(pointer)
  }

  static func privateKey(_ der: [UInt8]) -> Key? {
    der.withUnsafeBufferPointer { der in
      var start = der.baseAddress
      return owned(d2i_AutoPrivateKey(nil, &start, der.count))
    }
  }

  static func publicKey(_ point: [UInt8]) -> Key? {
    guard point.count == P256KeyPair.publicKeyBytes, point[0] == 4 else { return nil }
    // SubjectPublicKeyInfo of an uncompressed point of this curve is always this before the point. RFC 5480 §2.
    let info: [UInt8] =
      [0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
      + [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00] + point
    return info.withUnsafeBufferPointer { info in
      var start = info.baseAddress
      return owned(d2i_PUBKEY(nil, &start, info.count))
    }
  }

  static func halves(of signature: [UInt8]) -> [UInt8]? {
    signature.withUnsafeBufferPointer { signature in
      var start = signature.baseAddress
      guard let pair = d2i_ECDSA_SIG(nil, &start, signature.count) else { return nil }
      defer { ECDSA_SIG_free(pair) }
      var halves = [UInt8](repeating: 0, count: 64)
      let areWritten = halves.withUnsafeMutableBufferPointer { halves in
        guard let first = halves.baseAddress else { return false }
        return BN_bn2binpad(ECDSA_SIG_get0_r(pair), first, 32) == 32
          && BN_bn2binpad(ECDSA_SIG_get0_s(pair), first + 32, 32) == 32
      }
      return areWritten ? halves : nil
    }
  }

  /// What OpenSSL writes into memory of its own.
  private static func bytes(_ write: (inout UnsafeMutablePointer<UInt8>?) -> Int32) -> [UInt8]? {
    var start: UnsafeMutablePointer<UInt8>?
    let count = write(&start)
    guard count > 0, let start else { return nil }
    defer { CRYPTO_free(start, nil, 0) }
    return Array(UnsafeBufferPointer(start: start, count: Int(count)))
  }
}
