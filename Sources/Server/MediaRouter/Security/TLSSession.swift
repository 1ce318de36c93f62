import CSSL

/// TLS with one client, through memory: what the network brings goes in and comes out as plaintext, and the other way round. RFC 8446, RFC 5246.
///
/// It holds one record of the client's at most, and only while that is not whole.
final class TLSSession {
  /// What `receive` takes at once. OpenSSL takes the memory's content before it asks for more, so that no more is kept.
  static let inputBytes = 4 << 10
  /// What a record holds at most.
  static let recordBytes = 16 << 10
  /// What sealing adds to a packet at most: header, number, tag and kind, and a change of keys that was asked for before it.
  static let overheadBytes = 128

  enum Reading: Equatable {
    case plaintext(Int)
    /// There is less than a record.
    case waiting
    /// The client has said goodbye, or something that cannot be.
    case over
  }

  private let ssl: OpaquePointer
  private let input: OpaquePointer
  private let made: OpaquePointer
  private var hasFailed = false

  init(_ certificate: TLSCertificate) {
    guard let ssl = SSL_new(certificate.context), let input = BIO_new(BIO_s_mem()), let made = BIO_new(BIO_s_mem()) else {
      fatalError("out of memory")
    }
    self.ssl = ssl
    self.input = input
    self.made = made
    SSL_set_bio(ssl, input, made)
    SSL_set_accept_state(ssl)
  }

  deinit { SSL_free(ssl) }

  var isEstablished: Bool { SSL_is_init_finished(ssl) == 1 }

  /// Takes at most `inputBytes`, which `read` is then asked for until it waits.
  func receive(_ bytes: UnsafeRawBufferPointer) {
    precondition(bytes.count <= Self.inputBytes)
    if BIO_write(input, bytes.baseAddress, Int32(bytes.count)) != bytes.count { hasFailed = true }
  }

  /// Of one record, into memory of `recordBytes`.
  func read(into memory: UnsafeMutableRawPointer) -> Reading {
    guard !hasFailed else { return .over }
    ERR_clear_error()
    let count = SSL_read(ssl, memory, Int32(Self.recordBytes))
    if count > 0 { return .plaintext(Int(count)) }
    switch SSL_get_error(ssl, count) {
    case SSL_ERROR_WANT_READ: return .waiting
    // The client's goodbye: ours is still possible.
    case SSL_ERROR_ZERO_RETURN: return .over
    default:
      hasFailed = true
      return .over
    }
  }

  /// Makes a record of a packet, or of several; false where that is not possible, now or ever.
  func seal(_ packet: UnsafeRawBufferPointer) -> Bool {
    guard isEstablished, !hasFailed, (1...Self.recordBytes).contains(packet.count) else { return false }
    ERR_clear_error()
    guard SSL_write(ssl, packet.baseAddress, Int32(packet.count)) == packet.count else {
      hasFailed = true
      return false
    }
    return true
  }

  /// Says goodbye, if there is somebody to say it to.
  func close() {
    guard isEstablished, !hasFailed else { return }
    ERR_clear_error()
    SSL_shutdown(ssl)
    hasFailed = true
  }

  /// Takes out what is to be sent: records, answers of the handshake, alerts.
  func drain(into output: inout [UInt8]) {
    let count = ssl_pending_bytes(made)
    guard count > 0 else { return }
    let start = output.count
    output.append(contentsOf: repeatElement(0, count: count))
    let taken = output.withUnsafeMutableBytes { BIO_read(made, $0.baseAddress! + start, Int32(clamping: count)) }
    output.removeLast(count - max(0, Int(taken)))
  }
}
