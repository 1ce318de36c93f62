import CSSL

/// Seals or opens packets in place with keys set once. RFC 3711 §4, RFC 7714 §8 and §9.
///
/// The cipher contexts keep their expanded key; a packet costs a new initialization vector only. One thread at a time.
/// Pointers: the caller guarantees `count` readable bytes, and behind them room for what sealing adds.
final class SRTPTransform {
  private let profile: SRTPProfile
  private let context: OpaquePointer
  private let saltNumber: UInt128
  private let authentication: HMACSHA1
  private let isSealing: Bool
  // Unsafe: nobody changes it.
  nonisolated(unsafe) private static let gcm = ssl_aes_128_gcm()

  init(_ profile: SRTPProfile, _ keys: SRTPSessionKeys, isSealing: Bool) {
    precondition(keys.key.count == SRTPProfile.keyBytes && keys.salt.count == profile.saltBytes)
    self.profile = profile
    self.isSealing = isSealing
    let salt = keys.salt.reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
    saltNumber = salt << (8 * (16 - profile.saltBytes))
    authentication = HMACSHA1(key: keys.authenticationKey)
    guard let context = EVP_CIPHER_CTX_new() else { fatalError("out of memory") }
    self.context = context
    // Counter mode is its own inverse.
    let isReady =
      profile == .aes128GCM && !isSealing
      ? EVP_DecryptInit_ex(context, Self.gcm, nil, keys.key, nil)
      : EVP_EncryptInit_ex(context, profile == .aes128GCM ? Self.gcm : EVP_aes_128_ctr(), nil, keys.key, nil)
    precondition(isReady == 1, "OpenSSL has no AES-128")
  }

  deinit { EVP_CIPHER_CTX_free(context) }

  // MARK: SRTP

  /// Seals an RTP packet and returns its new count. `index` is the 48-bit packet index: ROC, then sequence number.
  func seal(_ packet: UnsafeMutableRawPointer, header: Int, count: Int, ssrc: UInt32, index: UInt64) -> Int {
    begin(ssrc, index)
    if profile == .aes128GCM {
      associate(packet, header)
      crypt(packet + header, count - header)
      finishSealing(tag: packet + count)
    } else {
      crypt(packet + header, count - header)
      tag(UnsafeRawBufferPointer(start: packet, count: count), UInt32(truncatingIfNeeded: index >> 16))
        .copy(to: UnsafeMutableRawBufferPointer(start: packet + count, count: profile.tagBytes))
    }
    return count + profile.tagBytes
  }

  /// Opens an SRTP packet and returns its new count; nil if it is not authentic (its bytes are then worthless).
  func open(_ packet: UnsafeMutableRawPointer, header: Int, count: Int, ssrc: UInt32, index: UInt64) -> Int? {
    let end = count - profile.tagBytes
    guard end >= header else { return nil }
    if profile == .aes128GCM {
      begin(ssrc, index)
      associate(packet, header)
      return finishOpening(packet + header, end - header, tag: packet + end) ? end : nil
    }
    let expected = tag(
      UnsafeRawBufferPointer(start: packet, count: end), UInt32(truncatingIfNeeded: index >> 16))
    guard expected.matches(UnsafeRawBufferPointer(start: packet + end, count: profile.tagBytes)) else { return nil }
    begin(ssrc, index)
    crypt(packet + header, end - header)
    return end
  }

  // MARK: SRTCP

  static let controlHeaderBytes = 8
  private static let encryptedFlag: UInt32 = 0x8000_0000

  /// Seals an RTCP datagram and returns its new count. `index` has 31 bits.
  func sealControl(_ packet: UnsafeMutableRawPointer, count: Int, ssrc: UInt32, index: UInt32) -> Int {
    let header = Self.controlHeaderBytes
    let word = (index | Self.encryptedFlag).bigEndian
    begin(ssrc, UInt64(index))
    if profile == .aes128GCM {
      associate(packet, header)
      withUnsafeBytes(of: word) { associate($0.baseAddress!, 4) }
      crypt(packet + header, count - header)
      finishSealing(tag: packet + count)
      (packet + count + profile.tagBytes).storeBytes(of: word, as: UInt32.self)
    } else {
      crypt(packet + header, count - header)
      (packet + count).storeBytes(of: word, as: UInt32.self)
      tag(UnsafeRawBufferPointer(start: packet, count: count + 4), nil)
        .copy(to: UnsafeMutableRawBufferPointer(start: packet + count + 4, count: profile.tagBytes))
    }
    return count + profile.controlTrailerBytes
  }

  /// The index that an SRTCP datagram says it has, and whether it is encrypted; nil if it is too short.
  func controlIndex(_ packet: UnsafeRawPointer, count: Int) -> (index: UInt32, isEncrypted: Bool)? {
    guard count >= Self.controlHeaderBytes + profile.controlTrailerBytes else { return nil }
    let offset = profile == .aes128GCM ? count - 4 : count - 4 - profile.tagBytes
    let word = UInt32(bigEndian: packet.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    return (word & ~Self.encryptedFlag, word & Self.encryptedFlag != 0)
  }

  /// Opens an encrypted SRTCP datagram and returns its new count; nil if it is not authentic.
  func openControl(_ packet: UnsafeMutableRawPointer, count: Int, ssrc: UInt32, index: UInt32) -> Int? {
    let header = Self.controlHeaderBytes
    let end = count - profile.controlTrailerBytes
    guard end >= header else { return nil }
    if profile == .aes128GCM {
      begin(ssrc, UInt64(index))
      associate(packet, header)
      associate(packet + count - 4, 4)
      return finishOpening(packet + header, end - header, tag: packet + end) ? end : nil
    }
    let expected = tag(UnsafeRawBufferPointer(start: packet, count: end + 4), nil)
    guard expected.matches(UnsafeRawBufferPointer(start: packet + end + 4, count: profile.tagBytes)) else { return nil }
    begin(ssrc, UInt64(index))
    crypt(packet + header, end - header)
    return end
  }

  // MARK: Steps

  /// RFC 3711 §4.1.1: `salt·2^16 ^ SSRC·2^64 ^ index·2^16`. RFC 7714 §8.1: the same fields in 96 bits.
  private func begin(_ ssrc: UInt32, _ index: UInt64) {
    let isGCM = profile == .aes128GCM
    let vector = saltNumber ^ UInt128(ssrc) << (isGCM ? 80 : 64) ^ UInt128(index) << (isGCM ? 32 : 16)
    withUnsafeBytes(of: vector.bigEndian) { bytes in
      let start = bytes.baseAddress!.assumingMemoryBound(to: UInt8.self)
      if isGCM && !isSealing {
        EVP_DecryptInit_ex2(context, nil, nil, start, nil)
      } else {
        EVP_EncryptInit_ex2(context, nil, nil, start, nil)
      }
    }
  }

  private func associate(_ bytes: UnsafeRawPointer, _ count: Int) {
    var written: Int32 = 0
    let start = bytes.assumingMemoryBound(to: UInt8.self)
    if isSealing {
      EVP_EncryptUpdate(context, nil, &written, start, Int32(count))
    } else {
      EVP_DecryptUpdate(context, nil, &written, start, Int32(count))
    }
  }

  private func crypt(_ bytes: UnsafeMutableRawPointer, _ count: Int) {
    var written: Int32 = 0
    let start = bytes.assumingMemoryBound(to: UInt8.self)
    EVP_EncryptUpdate(context, start, &written, start, Int32(count))
  }

  private func finishSealing(tag: UnsafeMutableRawPointer) {
    var written: Int32 = 0
    EVP_EncryptFinal_ex(context, tag.assumingMemoryBound(to: UInt8.self), &written)
    EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(profile.tagBytes), tag)
  }

  private func finishOpening(_ bytes: UnsafeMutableRawPointer, _ count: Int, tag: UnsafeMutableRawPointer) -> Bool {
    var written: Int32 = 0
    let start = bytes.assumingMemoryBound(to: UInt8.self)
    EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(profile.tagBytes), tag)
    EVP_DecryptUpdate(context, start, &written, start, Int32(count))
    return EVP_DecryptFinal_ex(context, start + count, &written) > 0
  }

  /// RFC 3711 §4.2: over the packet and, of SRTP, the roll-over counter.
  private func tag(_ bytes: UnsafeRawBufferPointer, _ rollOver: UInt32?) -> HMACSHA1.Tag {
    var state = authentication.begin()
    state.add(bytes)
    if let rollOver { withUnsafeBytes(of: rollOver.bigEndian) { state.add($0) } }
    return authentication.finish(&state)
  }
}
