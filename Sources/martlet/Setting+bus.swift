import Database
import ServerCore
import Telemetry

extension Setting {
  /// How nodes hear of each other.
  static let bus: [Setting] = [
    .one(
      "bus.url", \.bus.url,
      "A NATS server by which several nodes hear of each other, in place of notifications of PostgreSQL. Nothing depends on it: while it is away, nodes "
        + "look at the database, and typing and presence stay at each node.",
      allowed:
        "a URL such as nats://nats.example.org:4222 or tls://user:password@nats.example.org:4222",
      defaultText: "none (PostgreSQL's notifications)", isSecret: true,
      parse: { Configuration.Bus.isURL($0) ? .some(Redacted($0)) : nil }, show: { $0?.reveal() })
  ]
}

extension Configuration {
  struct Bus: Sendable {
    var url: Redacted<String>?

    /// nil if there is none. The subjects are those of one server name, so that several homeservers can share a NATS server.
    func configuration(of serverName: String) -> BusConfiguration? {
      guard let url else { return nil }
      let digest = KeyedHash.sha256.digest(of: Array(serverName.utf8), key: Array("martlet.bus".utf8))
      return BusConfiguration(url: url.reveal(), subject: "martlet.\(KeyedHash.hexadecimal(Array(digest.prefix(8))))")
    }

    /// With a scheme and a host, in ASCII without spaces. One: a server of a NATS cluster names the others.
    static func isURL(_ text: String) -> Bool {
      text.utf8.count <= 2_048 && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ",") }
        && ["nats://", "tls://"].contains { text.hasPrefix($0) && text.count > $0.count }
    }
  }
}
