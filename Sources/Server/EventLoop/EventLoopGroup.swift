import Glibc
import Synchronization

/// The loops of a process, one thread each.
package final class EventLoopGroup: Sendable {
  package let loops: [EventLoop]
  private let turn = Atomic<Int>(0)

  /// The number of processors this process may use, at least 1.
  package static var processorCount: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

  /// - Parameter count: the number of loops; nil means one a processor.
  /// - Throws: `EventLoopError` when the system refuses descriptors or threads.
  package init(count: Int? = nil) throws(EventLoopError) {
    var loops: [EventLoop] = []
    for _ in 0..<max(1, count ?? Self.processorCount) { loops.append(try EventLoop()) }
    self.loops = loops
  }

  /// The loops in turn: for work that does not come from a connection.
  package func next() -> EventLoop {
    let number = turn.wrappingAdd(1, ordering: .relaxed).oldValue
    return loops[Int(bitPattern: UInt(bitPattern: number) % UInt(loops.count))]
  }

  /// Stops every loop; see `EventLoop.shutdown()`.
  package func shutdown() async {
    for loop in loops { await loop.shutdown() }
  }
}
