/// The nodes of a database, as their rows say.
package struct NodeCensus: Sendable, Equatable {
  package struct Node: Sendable, Equatable {
    /// By which operators know it.
    package var name: String
    /// Where other nodes reach it: a host and a port.
    package var address: String

    package init(name: String, address: String) {
      self.name = name
      self.address = address
    }
  }

  /// All nodes but the one that asks, by their names.
  package var others: [Node]
  /// The name of the node that has the lease that was asked for; nil if nobody has it.
  package var worker: String?

  package init(others: [Node] = [], worker: String? = nil) {
    self.others = others
    self.worker = worker
  }
}
