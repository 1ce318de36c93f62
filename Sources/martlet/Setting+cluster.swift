import Database
import Glibc
import HTTPServer
import ServerCore

extension Setting {
  /// Several servers on one database.
  static let cluster: [Setting] = [
    .one(
      "cluster.bind", \.cluster.bind,
      "Makes this server one of several nodes on one PostgreSQL database: the address on which it accepts the other nodes, in a network that only "
        + "nodes can reach. See [Cluster](Cluster.md#several-nodes).",
      allowed: "host:port, such as 10.0.0.1:8009 or 0.0.0.0:8009; the port is not 0",
      defaultText: "none (the server has its database alone)",
      parse: { BindAddress($0).flatMap { $0.port == 0 ? nil : .some($0) } },
      show: { $0?.description }),
    .one(
      "cluster.address", \.cluster.address, "The address by which the other nodes reach this one.",
      allowed: "host:port, such as 10.0.0.1:8009; no address that means all, and the port is not 0",
      defaultText: "cluster.bind; if that means all addresses, the name of the machine with the port of cluster.bind",
      parse: { BindAddress($0).flatMap { $0.port == 0 || $0.isWildcard ? nil : .some($0) } }, show: { $0?.description }),
    .one(
      "cluster.node", \.cluster.node,
      "The name of this node, another for each. All nodes can share one file if MARTLET_CLUSTER_NODE says it.",
      allowed: "1 to 64 letters, digits, hyphens, dots and underscores", defaultText: "the name of the machine",
      parse: { Configuration.Cluster.isName($0) ? .some($0) : nil }, show: { $0 })
  ]
}

extension Configuration {
  /// This server among several on one database.
  struct Cluster: Sendable {
    /// nil if this server has its database alone.
    var bind: BindAddress?
    var address: BindAddress?
    var node: String?

    /// Throws `failed` if the machine has no name that can be used.
    func configuration() throws(StartError) -> NodeConfiguration? {
      guard let bind else { return nil }
      let name = if let node { node } else { try Self.machineName() }
      return NodeConfiguration(name: name, address: try reached(at: bind).description, notes: .notes)
    }

    private func reached(at bind: BindAddress) throws(StartError) -> BindAddress {
      if let address { return address }
      return bind.isWildcard ? BindAddress(host: try Self.machineName(), port: bind.port) : bind
    }

    static func isName(_ text: String) -> Bool {
      (1...64).contains(text.utf8.count)
        && text.utf8.allSatisfy { byte in
          isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || "-._".utf8.contains(byte)
        }
    }

    private static func machineName() throws(StartError) -> String {
      var machine = utsname()
      let name =
        uname(&machine) == 0
        ? withUnsafeBytes(of: machine.nodename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) } : ""
      guard isName(name), isHostName(name) else {
        throw .failed("the name of this machine cannot be the name of a node: set cluster.node and cluster.address")
      }
      return name
    }
  }

  /// How many seconds requests are still answered when the server is stopped.
  var drain: Int { drainSeconds ?? (cluster.bind == nil ? 0 : 5) }

  /// Describes a contradiction between the settings of nodes; nil if there is none.
  var clusterContradiction: String? {
    guard let own = cluster.bind else {
      if cluster.node != nil { return "cluster.node is set, but cluster.bind is not" }
      return cluster.address == nil ? nil : "cluster.address is set, but cluster.bind is not"
    }
    if database.url == nil { return "cluster.bind is set, but database.url is not: nodes share a PostgreSQL database" }
    if !bucket.isUsed {
      return """
        cluster.bind is set, but media.s3.endpoint is not: each node would keep files of users to itself. Put them into a bucket \
        (martlet media copy --to s3)
        """
    }
    if let other = bind.first(where: { $0 == own }) ?? metricsBind.first(where: { $0 == own }) {
      return "cluster.bind and \(bind.contains(other) ? "bind" : "metrics_bind") both have \(other)"
    }
    return nil
  }
}

extension BindAddress {
  /// Whether it stands for all addresses of the machine.
  fileprivate var isWildcard: Bool { ["0.0.0.0", "::"].contains(host) }
}
