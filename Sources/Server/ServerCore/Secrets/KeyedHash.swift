import CCrypto

/// HMAC with one of OpenSSL's hashes. RFC 2104.
package enum KeyedHash: Sendable {
  case sha1, sha256

  /// 20 or 32 bytes.
  package func digest(of message: [UInt8], key: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    let hash = self == .sha1 ? EVP_sha1() : EVP_sha256()
    let isMade = HMAC(hash, key, Int32(key.count), message, message.count, &digest, &count) != nil
    precondition(isMade, "OpenSSL has no HMAC")
    return Array(digest.prefix(Int(count)))
  }

  /// Takes as long for what is nearly right as for what is not.
  package static func areSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
  }

  /// In small letters.
  package static func hexadecimal(_ digest: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
