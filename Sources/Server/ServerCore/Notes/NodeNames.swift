import Database
import JSON

/// What a request needs is in the memory of another node, which has to answer it.
package struct Elsewhere: Error {
  /// Of that node.
  package let run: Int64
  /// What the client is told if that node is gone: as after a restart, what was only in memory is lost.
  package let otherwise: any Error

  package init(run: Int64, otherwise: any Error) {
    self.run = run
    self.otherwise = otherwise
  }
}

/// Names of what one node alone remembers. Where there are several they say whose, so that any node knows where a request belongs.
package struct NodeNames: Sendable {
  /// 0 where there are no other nodes.
  private let run: Int64

  package init(_ database: Database? = nil) { run = database?.run ?? 0 }

  /// - Parameter name: without full stops.
  package func marked(_ name: String) -> String { run == 0 ? name : "\(name).\(String(run, radix: 36))" }

  /// Throws `Elsewhere` for a name that another node has made.
  package func check(_ name: some StringProtocol, orElse error: @autoclosure () -> any Error) throws {
    guard run != 0, let dot = name.lastIndex(of: "."), let other = Int64(name[name.index(after: dot)...], radix: 36),
      other != run
    else { return }
    throw Elsewhere(run: other, otherwise: error())
  }
}
