import EventLoop
import MediaRouter
import Shell
import Telemetry

/// The reason why the files of a certificate cannot be used. The description is a message for the operator.
struct CertificateFilesError: Error, Equatable, CustomStringConvertible {
  let description: String
}

/// The certificate of Martlet's own TURN server and its key, as files. Another program, such as an ACME client, replaces the files.
struct CertificateFiles: Sendable {
  enum Change: Sendable {
    case none
    case new(TLSCertificate)
    /// An error that differs from the last one. The previous certificate stays in use.
    case trouble(CertificateFilesError)
  }

  static let byteLimit = 1 << 20
  static let interval = Duration.seconds(60)

  /// The path of the certificate and its chain.
  let certificate: String
  /// The path of the private key.
  let key: String
  /// The name or address to which clients connect.
  let host: String
  private(set) var current: TLSCertificate
  private var trouble: CertificateFilesError?

  /// Reads the files. Throws if a file cannot be read, if the key does not belong to the certificate, or if the certificate is not valid for the host.
  init(certificate: String, key: String, host: String) throws(CertificateFilesError) {
    self.certificate = certificate
    self.key = key
    self.host = host
    let (chain, secret) = (
      try Self.bytes(certificate, of: "turn.tls_certificate"), try Self.bytes(key, of: "turn.tls_key")
    )
    do throws(TLSCertificateError) {
      current = try TLSCertificate(chain: chain, key: secret, host: host)
    } catch {
      throw Self.refusal(error, certificate: certificate, key: key)
    }
  }

  /// The host as it stands in a URI: an IPv6 address has brackets.
  var hostInURI: String { host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host }

  /// Reads the files again and returns what changed. While another program replaces first one file and then the other, the result can be an error
  /// for a moment.
  mutating func look() -> Change {
    do throws(CertificateFilesError) {
      let found = try CertificateFiles(certificate: certificate, key: key, host: host).current
      trouble = nil
      guard found.digest != current.digest else { return .none }
      current = found
      return .new(found)
    } catch {
      defer { trouble = error }
      return error == trouble ? .none : .trouble(error)
    }
  }

  /// Reads the files once per `interval` until the task is cancelled, and passes each new certificate to `use`.
  func follow(every interval: Duration = interval, on pool: BlockingPool, _ use: @Sendable (TLSCertificate) -> Void) async {
    let log = Log("relay")
    var files = self
    while (try? await Task.sleep(for: interval)) != nil {
      let looked = try? await pool.run { [files] in
        var files = files
        let change = files.look()
        return (files: files, change: change)
      }
      guard let looked else { continue }
      files = looked.files
      switch looked.change {
      case .none: break
      case .new(let certificate):
        log.info("the certificate has changed", ["file": .text(files.certificate)])
        use(certificate)
      case .trouble(let error):
        log.warning("the new certificate cannot be used; the old one stays in use", ["reason": .text("\(error)")])
      }
    }
  }

  private static func bytes(_ path: String, of setting: String) throws(CertificateFilesError) -> [UInt8] {
    do throws(FileBytes.Unreadable) {
      return try FileBytes.read(path, limit: byteLimit)
    } catch {
      throw CertificateFilesError(description: "cannot read \(setting) \(path): \(error.reason)")
    }
  }

  private static func refusal(_ error: TLSCertificateError, certificate: String, key: String) -> CertificateFilesError {
    let file =
      switch error {
      case .noCertificate, .otherHost, .noTLS: "turn.tls_certificate \(certificate)"
      case .noKey, .otherKey: "turn.tls_key \(key)"
      }
    return CertificateFilesError(description: "cannot use \(file): \(error)")
  }
}
