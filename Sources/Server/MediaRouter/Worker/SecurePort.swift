import Glibc

/// A TCP port whose connections speak TLS: whose handshakes may begin, and with which certificate.
final class SecurePort {
  /// What is read at once: a record.
  static let readBytes = TLSSession.recordBytes

  let listener: Int32
  /// For connections that begin from now on.
  var certificate: TLSCertificate
  /// What has just been read, as it came.
  let sealed = UnsafeMutableRawPointer.allocate(byteCount: SecurePort.readBytes, alignment: 64)
  private var budget: ByteBudget
  private var networks: StrangerRates

  /// - Parameter listener: is closed with it.
  init(listener: Int32, certificate: TLSCertificate, limits: StreamLimits = StreamLimits()) {
    self.listener = listener
    self.certificate = certificate
    var random: any RandomNumberGenerator = SystemRandomNumberGenerator()
    budget = ByteBudget(perSecond: limits.handshakesPerSecond, now: MediaTime(microseconds: 0))
    networks = StrangerRates(perSecond: limits.handshakesPerSecondOfNetwork, using: &random)
  }

  deinit {
    Glibc.close(listener)
    sealed.deallocate()
  }

  /// The server's end of a connection; nil where too many begin.
  func begin(_ client: TransportAddress, now: MediaTime) -> TLSSession? {
    guard networks.take(client, now: now), budget.has(1, now: now) else { return nil }
    budget.take(1)
    return TLSSession(certificate)
  }
}
