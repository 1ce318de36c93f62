import CCrypto
import RoomRules

@testable import ServerAccounts

/// Makes tokens as an issuer does, and as an attacker would. Its key lives as long as it does.
final class TokenSigner: @unchecked Sendable {
  // Made in `init`, only read afterwards.
  private let key: OpaquePointer
  let algorithm: JSONWebKey.Algorithm

  init(_ algorithm: JSONWebKey.Algorithm) {
    self.algorithm = algorithm
    let kind = algorithm == .rs256 ? "RSA" : algorithm == .es256 ? "EC" : "ED25519"
    let context = EVP_PKEY_CTX_new_from_name(nil, kind, nil)
    EVP_PKEY_keygen_init(context)
    if algorithm == .rs256 { EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2048) }
    if algorithm == .es256 { EVP_PKEY_CTX_set_group_name(context, "P-256") }
    var key: OpaquePointer?
    EVP_PKEY_generate(context, &key)
    EVP_PKEY_CTX_free(context)
    self.key = key!
  }

  deinit { EVP_PKEY_free(key) }

  /// The public key in PEM.
  var pem: String {
    let sink = BIO_new(BIO_s_mem())
    defer { BIO_free(sink) }
    PEM_write_bio_PUBKEY(sink, key)
    var text = [UInt8](repeating: 0, count: 4096)
    let count = BIO_read(sink, &text, 4096)
    return String(decoding: text.prefix(Int(count)), as: UTF8.self)
  }

  /// The public key as a JWK.
  func jwk(_ more: String = "") -> String {
    switch algorithm {
    case .rs256: #"{"kty":"RSA","n":"\#(number("n"))","e":"\#(number("e"))"\#(more)}"#
    case .es256: #"{"kty":"EC","crv":"P-256","x":"\#(number("qx", 32))","y":"\#(number("qy", 32))"\#(more)}"#
    default: #"{"kty":"OKP","crv":"Ed25519","x":"\#(raw)"\#(more)}"#
    }
  }

  func token(_ claims: String, header: String? = nil) -> String {
    let message =
      Self.encode(Array((header ?? #"{"alg":"\#(algorithm.rawValue)"}"#).utf8)) + "." + Self.encode(Array(claims.utf8))
    return message + "." + Self.encode(sign(Array(message.utf8)))
  }

  /// HS256.
  static func token(_ claims: String, secret: [UInt8], header: String = #"{"alg":"HS256"}"#) -> String {
    let message = encode(Array(header.utf8)) + "." + encode(Array(claims.utf8))
    let bytes = Array(message.utf8)
    var digest = [UInt8](repeating: 0, count: 32)
    _ = HMAC(EVP_sha256(), secret, Int32(secret.count), bytes, bytes.count, &digest, nil)
    return message + "." + encode(digest)
  }

  static func encode(_ bytes: [UInt8]) -> String {
    String(decoding: UnpaddedBase64.encode(bytes, .urlSafe), as: UTF8.self)
  }

  private func sign(_ message: [UInt8]) -> [UInt8] {
    let context = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(context) }
    EVP_DigestSignInit(context, nil, algorithm == .edDSA ? nil : EVP_sha256(), nil, key)
    var count = 1024
    var signature = [UInt8](repeating: 0, count: count)
    EVP_DigestSign(context, &signature, &count, message, message.count)
    signature.removeLast(1024 - count)
    return algorithm == .es256 ? Self.halves(signature) : signature
  }

  private static func halves(_ encoded: [UInt8]) -> [UInt8] {
    encoded.withUnsafeBufferPointer { bytes in
      var start = bytes.baseAddress
      let pair = d2i_ECDSA_SIG(nil, &start, encoded.count)
      defer { ECDSA_SIG_free(pair) }
      var halves = [UInt8](repeating: 0, count: 64)
      BN_bn2binpad(ECDSA_SIG_get0_r(pair), &halves, 32)
      halves.withUnsafeMutableBufferPointer { _ = BN_bn2binpad(ECDSA_SIG_get0_s(pair), $0.baseAddress! + 32, 32) }
      return halves
    }
  }

  private func number(_ name: String, _ size: Int32? = nil) -> String {
    var value: OpaquePointer?
    EVP_PKEY_get_bn_param(key, name, &value)
    defer { BN_free(value) }
    let count = size ?? (BN_num_bits(value) + 7) / 8
    var bytes = [UInt8](repeating: 0, count: Int(count))
    BN_bn2binpad(value, &bytes, count)
    return Self.encode(bytes)
  }

  private var raw: String {
    var bytes = [UInt8](repeating: 0, count: 32)
    var count = 32
    EVP_PKEY_get_raw_public_key(key, &bytes, &count)
    return Self.encode(bytes)
  }
}
