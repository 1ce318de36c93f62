import Addresses
import HTTPServer
import Homeserver
import MediaRouter

/// Our own TURN server, and how clients find it.
struct OwnRelay: Sendable {
  let worker: RelayWorker
  let server: TURNServer
}

extension Configuration {
  /// With its ports bound; nil where there is none, or where clients are sent to another. Throws `address`.
  func ownRelay(in folder: DataDirectory) throws -> OwnRelay? {
    guard let bind = turn.bind, turn.server == nil else { return nil }
    let secret = try DerivedSecrets(in: folder.path, file: "call.key").secret(for: "martlet.turn")
    do {
      guard let address = try SocketAddress.resolve(bind.description).first else { return nil }
      let publicAddresses = relayAddresses(of: address.ip)
      var relay = RelayConfiguration(
        address: TransportAddress(address.ip, port: address.port), publicAddresses: publicAddresses, ports: turn.ports,
        realm: serverName, secret: secret)
      relay.allowed = turn.allowedNetworks
      let worker = try RelayWorker(relay)
      let uris = publicAddresses.flatMap { ip in
        let host = ip.isIPv4 ? "\(ip)" : "[\(ip)]"
        return ["udp", "tcp"].map { "turn:\(host):\(worker.address.port)?transport=\($0)" }
      }
      return OwnRelay(worker: worker, server: turn.server(uris: uris, secret: secret))
    } catch {
      throw StartError.address(setting: "turn.bind", bind, reason: "\(error)")
    }
  }

  /// One of each family, as allocations have one.
  private func relayAddresses(of bound: IPAddress) -> [IPAddress] {
    let known = calls.publicAddresses + (bound.number == 0 ? HostAddresses.list() : [bound])
    let usable = bound.isIPv4 ? known.filter(\.isIPv4) : known
    return [true, false].compactMap { isIPv4 in usable.first { $0.isIPv4 == isIPv4 } }
  }
}
