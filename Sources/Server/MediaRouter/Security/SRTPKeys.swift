import CSSL

/// How packets of a transport are sealed; the raw values are those of DTLS-SRTP. RFC 5764 §4.1.2, RFC 7714 §14.2.
package enum SRTPProfile: UInt16, Sendable, CaseIterable {
  case aes128CounterSHA1 = 0x0001
  case aes128GCM = 0x0007

  static let keyBytes = 16

  var saltBytes: Int { self == .aes128GCM ? 12 : 14 }
  var tagBytes: Int { self == .aes128GCM ? 16 : 10 }
  /// What SRTCP adds: the tag, and the index with its flag.
  var controlTrailerBytes: Int { tagBytes + 4 }
}

/// The master key and salt of one direction. RFC 3711 §3.2.1.
struct SRTPMaster: Equatable {
  var key: [UInt8]
  var salt: [UInt8]
}

/// What one kind of packet (SRTP or SRTCP) in one direction is sealed with.
struct SRTPSessionKeys: Equatable {
  var key: [UInt8]
  var salt: [UInt8]
  /// Empty for GCM.
  var authenticationKey: [UInt8]

  init(key: [UInt8], salt: [UInt8], authenticationKey: [UInt8] = []) {
    self.key = key
    self.salt = salt
    self.authenticationKey = authenticationKey
  }

  /// Derives the keys from those of the handshake, with a key derivation rate of 0. RFC 3711 §4.3, RFC 7714 §11.
  init(_ profile: SRTPProfile, _ master: SRTPMaster, isControl: Bool) {
    let first: UInt8 = isControl ? 3 : 0
    key = Self.derive(master, label: first, count: SRTPProfile.keyBytes)
    authenticationKey =
      profile == .aes128GCM ? [] : Self.derive(master, label: first + 1, count: HMACSHA1.tagBytes)
    salt = Self.derive(master, label: first + 2, count: profile.saltBytes)
  }

  /// AES in counter mode over nothing, from `salt ^ label` on. RFC 3711 §4.3.3.
  static func derive(_ master: SRTPMaster, label: UInt8, count: Int) -> [UInt8] {
    var block = master.salt + [UInt8](repeating: 0, count: 16 - master.salt.count)
    block[7] ^= label
    let context = EVP_CIPHER_CTX_new()
    defer { EVP_CIPHER_CTX_free(context) }
    var derived = [UInt8](repeating: 0, count: count)
    var written: Int32 = 0
    let isDone =
      EVP_EncryptInit_ex(context, EVP_aes_128_ctr(), nil, master.key, block) == 1
      && EVP_EncryptUpdate(context, &derived, &written, [UInt8](repeating: 0, count: count), Int32(count)) == 1
    precondition(isDone, "OpenSSL has no AES-128-CTR")
    return derived
  }
}
