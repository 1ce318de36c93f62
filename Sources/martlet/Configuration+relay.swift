import Addresses
import HTTPServer
import MediaRouter
import ServerCore
import ServerDirectory

/// Martlet's own TURN server, and what clients need to find it.
struct OwnRelay: Sendable {
  let worker: RelayWorker
  let server: TURNServer
  /// nil if it does not use TLS.
  let certificate: CertificateFiles?
}

extension Configuration {
  /// Returns Martlet's own TURN server with its ports bound; nil if it is off, or if `turn.uris` names another. Throws `address`, and `failed` if the
  /// certificate cannot be used.
  func ownRelay(in folder: DataDirectory) throws -> OwnRelay? {
    guard let bind = turn.bind, turn.server == nil else { return nil }
    let secret = try DerivedSecrets(in: folder.path, file: "call.key").secret(for: "martlet.turn")
    let certificate = try certificateFiles()
    do {
      guard let address = try SocketAddress.resolve(bind.description).first else { return nil }
      let publicAddresses = relayAddresses(of: address.ip)
      var relay = RelayConfiguration(
        address: TransportAddress(address.ip, port: address.port), publicAddresses: publicAddresses, ports: turn.ports,
        realm: serverName, secret: secret)
      relay.allowed = turn.allowedNetworks
      relay.secure = try secureRelay(certificate)
      let worker = try RelayWorker(relay)
      var uris = publicAddresses.flatMap { ip in
        let host = ip.isIPv4 ? "\(ip)" : "[\(ip)]"
        return ["udp", "tcp"].map { "turn:\(host):\(worker.address.port)?transport=\($0)" }
      }
      if let certificate, let address = worker.secureAddress {
        uris.append("turns:\(certificate.hostInURI):\(address.port)?transport=tcp")
      }
      return OwnRelay(worker: worker, server: turn.server(uris: uris, secret: secret), certificate: certificate)
    } catch let error as StartError {
      throw error
    } catch {
      if let secure = turn.tls.bind, (error as? MediaWorkerError)?.address.isSecure == true {
        throw StartError.address(setting: "turn.tls_bind", secure, reason: "\(error)")
      }
      throw StartError.address(setting: "turn.bind", bind, reason: "\(error)")
    }
  }

  /// Returns the address for TLS with the current certificate; nil if the server does not use TLS.
  private func secureRelay(_ files: CertificateFiles?) throws(StartError) -> RelayConfiguration.Secure? {
    guard let bind = turn.tls.bind, let files else { return nil }
    do {
      guard let address = try SocketAddress.resolve(bind.description).first else { return nil }
      return RelayConfiguration.Secure(
        address: TransportAddress(address.ip, port: address.port), certificate: files.current)
    } catch {
      throw StartError.address(setting: "turn.tls_bind", bind, reason: "\(error)")
    }
  }

  private func certificateFiles() throws(StartError) -> CertificateFiles? {
    guard let certificate = turn.tls.certificate, let key = turn.tls.key, let host = secureRelayHost else { return nil }
    do throws(CertificateFilesError) {
      return try CertificateFiles(certificate: certificate, key: key, host: host)
    } catch {
      throw .failed("\(error)")
    }
  }

  /// The host by which clients connect with TLS. By default it is the server's name; nil if that is an IP address,
  /// for which certificates are rare.
  private var secureRelayHost: String? {
    if let host = turn.tls.host { return host }
    guard IPAddress(serverName) == nil, !serverName.hasPrefix("[") else { return nil }
    let name = String(serverName.prefix { $0 != ":" })
    return IPAddress(name) == nil ? name : nil
  }

  /// Names a setting that TLS needs and that is not set; nil if there is none.
  var secureRelayContradiction: String? {
    let tls = turn.tls
    let parts = [
      ("turn.tls_bind", tls.bind != nil), ("turn.tls_certificate", tls.certificate != nil), ("turn.tls_key", tls.key != nil)
    ]
    guard let given = parts.first(where: \.1)?.0 else {
      return tls.host == nil ? nil : "turn.tls_host is set, but turn.tls_bind is not"
    }
    let missing = parts.filter { !$0.1 }.map(\.0)
    guard missing.isEmpty else {
      return "\(given) is set, but \(missing.joined(separator: " and ")) \(missing.count == 1 ? "is" : "are") not"
    }
    if turn.bind == nil { return "turn.tls_bind is set, but turn.bind is not" }
    if secureRelayHost == nil {
      return "turn.tls_bind is set and server_name is an IP address: set turn.tls_host to the name in the certificate"
    }
    return nil
  }

  /// Returns at most one IPv4 and one IPv6 address: an allocation has one of each.
  private func relayAddresses(of bound: IPAddress) -> [IPAddress] {
    let known = calls.publicAddresses + (bound.number == 0 ? HostAddresses.list() : [bound])
    let usable = bound.isIPv4 ? known.filter(\.isIPv4) : known
    return [true, false].compactMap { isIPv4 in usable.first { $0.isIPv4 == isIPv4 } }
  }
}
