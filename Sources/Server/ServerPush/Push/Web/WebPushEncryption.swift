import CCrypto

/// A message that only a Web Push subscription's browser can read. RFC 8291, which is the content coding of RFC 8188 with keys that
/// both sides agree on by ECDH:
///
///     salt (16)  record size (4)  65  public key of the message (65)  AES-128-GCM(message, 2, zeros)
///
/// One record, always as long as it may be: how long the message is nobody sees.
enum WebPushEncryption {
  /// Bytes of an encrypted message that every push service takes. RFC 8030 §7.2.
  static let messageBytes = 4_096
  static let saltBytes = 16
  private static let headerBytes = saltBytes + 4 + 1 + P256KeyPair.publicKeyBytes
  private static let tagBytes = 16
  /// Bytes of what may be encrypted: 3,993.
  static let plaintextBytesLimit = messageBytes - headerBytes - tagBytes - 1

  /// - Parameters:
  ///   - key: of this message alone.
  ///   - paddedBytes: what the message is filled up to, at most `plaintextBytesLimit`.
  /// - Returns: nil if the plaintext is longer or the subscription's key is not valid.
  static func encrypt(
    _ plaintext: [UInt8], for subscription: WebPushSubscription.Keys, key: P256KeyPair = P256KeyPair(),
    salt: [UInt8] = randomSalt(), paddedBytes: Int = plaintextBytesLimit
  ) -> [UInt8]? {
    guard plaintext.count <= paddedBytes, paddedBytes <= plaintextBytesLimit,
      let secret = key.agree(with: subscription.publicKey),
      let material = derive(
        32, from: secret, salt: subscription.authenticationSecret,
        Array("WebPush: info\0".utf8) + subscription.publicKey + key.publicKey),
      let contentKey = derive(16, from: material, salt: salt, Array("Content-Encoding: aes128gcm\0".utf8)),
      let nonce = derive(12, from: material, salt: salt, Array("Content-Encoding: nonce\0".utf8))
    else { return nil }
    // 2 ends the last record; what follows is padding. RFC 8188 §2.
    let record = plaintext + [2] + [UInt8](repeating: 0, count: paddedBytes - plaintext.count)
    guard let sealed = seal(record, contentKey, nonce) else { return nil }
    let recordBytes: [UInt8] = [0, 0, UInt8(messageBytes >> 8), UInt8(messageBytes & 255)]
    return salt + recordBytes + [UInt8(P256KeyPair.publicKeyBytes)] + key.publicKey + sealed
  }

  static func randomSalt() -> [UInt8] {
    var salt = [UInt8](repeating: 0, count: saltBytes)
    guard RAND_bytes(&salt, Int32(salt.count)) == 1 else { preconditionFailure("OpenSSL has no randomness") }
    return salt
  }

  /// HKDF with SHA-256. RFC 5869.
  private static func derive(_ count: Int, from material: [UInt8], salt: [UInt8], _ info: [UInt8]) -> [UInt8]? {
    guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nil) else { return nil }
    defer { EVP_PKEY_CTX_free(context) }
    var output = [UInt8](repeating: 0, count: count)
    var outputCount = count
    guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_CTX_set_hkdf_md(context, EVP_sha256()) == 1,
      EVP_PKEY_CTX_set1_hkdf_salt(context, salt, Int32(salt.count)) == 1,
      EVP_PKEY_CTX_set1_hkdf_key(context, material, Int32(material.count)) == 1,
      EVP_PKEY_CTX_add1_hkdf_info(context, info, Int32(info.count)) == 1,
      EVP_PKEY_derive(context, &output, &outputCount) == 1
    else { return nil }
    return output
  }

  /// AES-128-GCM: the ciphertext and its tag.
  private static func seal(_ plaintext: [UInt8], _ key: [UInt8], _ nonce: [UInt8]) -> [UInt8]? {
    guard let context = EVP_CIPHER_CTX_new() else { return nil }
    defer { EVP_CIPHER_CTX_free(context) }
    var sealed = [UInt8](repeating: 0, count: plaintext.count)
    var tag = [UInt8](repeating: 0, count: tagBytes)
    var (count, rest): (Int32, Int32) = (0, 0)
    guard EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), nil, key, nonce) == 1,
      EVP_EncryptUpdate(context, &sealed, &count, plaintext, Int32(plaintext.count)) == 1,
      EVP_EncryptFinal_ex(context, nil, &rest) == 1,
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, Int32(tag.count), &tag) == 1
    else { return nil }
    return sealed + tag
  }
}
