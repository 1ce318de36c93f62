import EventLoop
import MediaRouter
import Shell
import Telemetry

/// Why the files of a certificate are of no use, in the operator's words.
struct CertificateFilesError: Error, Equatable, CustomStringConvertible {
  let description: String
}

/// The certificate of our own TURN server and its key as files, in whose place somebody else puts new ones.
struct CertificateFiles: Sendable {
  enum Change: Sendable {
    case none
    case new(TLSCertificate)
    /// Other trouble than the last time; what was read before is still good.
    case trouble(CertificateFilesError)
  }

  static let byteLimit = 1 << 20
  static let interval = Duration.seconds(60)

  /// Paths.
  let certificate: String
  let key: String
  /// What clients ask for.
  let host: String
  private(set) var current: TLSCertificate
  private var trouble: CertificateFilesError?

  /// Throws where one cannot be read, where they do not belong together, or where the certificate is not for the host.
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

  /// As a URI has it: an address of IPv6 in brackets.
  var hostInURI: String { host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host }

  /// Whether the files hold something else by now. Between two files that are put down one after the other there may be trouble for a moment.
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

  /// Looks again and again until the task is cancelled, and hands over what is new.
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
        log.warning("a new certificate is of no use, the old one stays", ["reason": .text("\(error)")])
      }
    }
  }

  private static func bytes(_ path: String, of setting: String) throws(CertificateFilesError) -> [UInt8] {
    do throws(FileBytes.Unreadable) {
      return try FileBytes.read(path, limit: byteLimit)
    } catch {
      throw CertificateFilesError(description: "\(setting) \(path) cannot be read: \(error.reason)")
    }
  }

  private static func refusal(_ error: TLSCertificateError, certificate: String, key: String) -> CertificateFilesError {
    let file =
      switch error {
      case .noCertificate, .otherHost, .noTLS: "turn.tls_certificate \(certificate)"
      case .noKey, .otherKey: "turn.tls_key \(key)"
      }
    return CertificateFilesError(description: "\(file) is of no use: \(error)")
  }
}
