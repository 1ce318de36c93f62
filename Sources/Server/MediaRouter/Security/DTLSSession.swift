import CSSL

/// The handshake with one peer, through memory: datagrams go in and come out, and at its end stand the keys of SRTP. RFC 5764.
///
/// OpenSSL's timer reads the clock; this one does not use it but sends the last flight again, byte by byte, by the time it is told.
/// It drops records that the peer has seen, so a side that is done answers a resent flight with its own.
final class DTLSSession {
  enum State: Equatable {
    case handshaking
    case established
    case failed
    /// The peer has said goodbye.
    case closed
  }

  struct Keys: Equatable {
    var profile: SRTPProfile
    var client: SRTPMaster
    var server: SRTPMaster
  }

  static let datagramLimit = 1200
  static let firstResend = MediaTime.Interval.milliseconds(200)
  static let resendLimit = MediaTime.Interval.seconds(3)
  /// A handshake that takes longer has failed.
  static let handshakeLimit = MediaTime.Interval.seconds(30)

  let isClient: Bool
  private(set) var state = State.handshaking
  private(set) var keys: Keys?
  /// Datagrams to send; the caller takes them out.
  var output: [[UInt8]] = []
  /// When `advance` must be called; nil after the handshake.
  private(set) var deadline: MediaTime?

  private let expected: Fingerprint
  private let ssl: OpaquePointer
  private let input: OpaquePointer
  private let made: OpaquePointer
  private var lastFlight: [[UInt8]] = []
  private var resendInterval = DTLSSession.firstResend
  private let began: MediaTime
  /// Before it the last flight is not sent again after the handshake.
  private var nextAnswer: MediaTime

  /// - Parameter fingerprint: of the peer's certificate; another one ends the handshake.
  init(_ identity: DTLSIdentity, isClient: Bool, fingerprint: Fingerprint, now: MediaTime) {
    self.isClient = isClient
    expected = fingerprint
    began = now
    nextAnswer = now
    guard let ssl = SSL_new(identity.context), let input = BIO_new(BIO_s_mem()), let made = BIO_new(BIO_s_mem()) else {
      fatalError("out of memory")
    }
    self.ssl = ssl
    self.input = input
    self.made = made
    SSL_set_bio(ssl, input, made)
    if isClient { SSL_set_connect_state(ssl) } else { SSL_set_accept_state(ssl) }
    ssl_set_datagram_limit(ssl, Self.datagramLimit)
    deadline = now + Self.handshakeLimit
    if isClient { handshake(now) }
  }

  deinit { SSL_free(ssl) }

  /// Takes one datagram, of a handshake or later.
  func receive(_ datagram: RawSpan, now: MediaTime) {
    guard state == .handshaking || state == .established, (1...(1 << 16)).contains(datagram.byteCount) else { return }
    let taken = datagram.withUnsafeBytes { BIO_write(input, $0.baseAddress, Int32($0.count)) }
    guard taken == datagram.byteCount else { return }
    if state == .handshaking { handshake(now) } else { readApplicationData(mayBeRepeated: Self.mayBeRepeated(datagram), now) }
    // What OpenSSL did not read of this datagram must not stand before the next one.
    ssl_empty(input)
  }

  /// Sends the last flight again if it is time, and gives up after `handshakeLimit`.
  func advance(to now: MediaTime) {
    guard state == .handshaking, let deadline, now >= deadline else { return }
    guard now < began + Self.handshakeLimit else { return end(.failed) }
    output += lastFlight
    resendInterval = min(resendInterval * 2, Self.resendLimit)
    setDeadline(now)
  }

  /// Says goodbye, if there is somebody to say it to.
  func close() {
    guard state == .established else { return end(.closed) }
    SSL_shutdown(ssl)
    drain()
    end(.closed)
  }

  private func handshake(_ now: MediaTime) {
    ERR_clear_error()
    let result = SSL_do_handshake(ssl)
    let isWaiting = result != 1 && [SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE].contains(SSL_get_error(ssl, result))
    if drain() { resendInterval = Self.firstResend }
    if result == 1 {
      if let keys = exportKeys() {
        self.keys = keys
        end(.established)
      } else {
        end(.failed)
      }
    } else if isWaiting {
      setDeadline(now)
    } else {
      end(.failed)
    }
  }

  /// Whether it may be of the peer's last flight. A hello is not: somebody else begins at the address of a peer that has gone without a
  /// word, and would take what is answered here for a part of another handshake.
  private static func mayBeRepeated(_ datagram: RawSpan) -> Bool {
    guard datagram.uint8(at: 0) == 22 else { return false }
    return datagram.byteCount <= 13 || datagram.uint8(at: 13) != 1
  }

  private func readApplicationData(mayBeRepeated: Bool, _ now: MediaTime) {
    ERR_clear_error()
    var bytes = [UInt8](repeating: 0, count: 2048)
    let result = SSL_read(ssl, &bytes, Int32(bytes.count))
    let reason = SSL_get_error(ssl, result)
    // A peer that lost our last flight sends its own again. OpenSSL answers if the record's number is a new one.
    if !drain(), mayBeRepeated, now >= nextAnswer {
      output += lastFlight
      nextAnswer = now + Self.firstResend
    }
    if result <= 0 && reason == SSL_ERROR_ZERO_RETURN { end(.closed) }
  }

  private func end(_ state: State) {
    self.state = state
    deadline = nil
  }

  private func setDeadline(_ now: MediaTime) {
    let limit = began + Self.handshakeLimit
    deadline = lastFlight.isEmpty ? limit : min(now + resendInterval, limit)
  }

  /// Takes out what OpenSSL wrote, cut into datagrams between records: the memory BIO glues them together. Whether there was anything.
  @discardableResult private func drain() -> Bool {
    let count = ssl_pending_bytes(made)
    guard count > 0 else { return false }
    var bytes = [UInt8](repeating: 0, count: count)
    guard BIO_read(made, &bytes, Int32(count)) == count else { return false }
    var flight: [[UInt8]] = []
    var start = 0
    var offset = 0
    while offset + 13 <= count {
      let end = offset + 13 + (Int(bytes[offset + 11]) << 8 | Int(bytes[offset + 12]))
      if end - start > Self.datagramLimit && offset > start {
        flight.append(Array(bytes[start..<offset]))
        start = offset
      }
      offset = end
    }
    flight.append(Array(bytes[start...]))
    lastFlight = flight
    output += flight
    return true
  }

  /// RFC 5764 §4.2; nil where the certificate is another than announced, or no profile was agreed on.
  private func exportKeys() -> Keys? {
    guard let certificate = SSL_get1_peer_certificate(ssl) else { return nil }
    defer { X509_free(certificate) }
    guard Fingerprint(expected.algorithm, of: certificate) == expected,
      let selected = SSL_get_selected_srtp_profile(ssl),
      let profile = SRTPProfile(rawValue: UInt16(truncatingIfNeeded: selected.pointee.id))
    else { return nil }
    let (key, salt) = (SRTPProfile.keyBytes, profile.saltBytes)
    var material = [UInt8](repeating: 0, count: 2 * (key + salt))
    defer { material.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) } }
    let label = "EXTRACTOR-dtls_srtp"
    guard SSL_export_keying_material(ssl, &material, material.count, label, label.utf8.count, nil, 0, 0) == 1 else {
      return nil
    }
    let salts = material[(2 * key)...]
    return Keys(
      profile: profile,
      client: SRTPMaster(key: Array(material[..<key]), salt: Array(salts.prefix(salt))),
      server: SRTPMaster(key: Array(material[key..<(2 * key)]), salt: Array(salts.suffix(salt))))
  }
}
