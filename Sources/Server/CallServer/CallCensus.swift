import Synchronization

/// How much a call server holds.
package final class CallCensus: Sendable {
  /// With somebody in them, or with somebody who may come back.
  package let sessions = Atomic<Int>(0)
  /// Greeted ones.
  package let sockets = Atomic<Int>(0)
}
