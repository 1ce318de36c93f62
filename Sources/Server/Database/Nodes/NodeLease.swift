import Glibc
import Synchronization

/// How long this node may do what one node alone does with things that it holds: its row counts for `seconds` after each renewal, by the
/// database's clock, and the node itself stops a second sooner, by its own.
final class NodeLease: Sendable {
  /// How long a node's row counts after it was renewed.
  static let seconds: Int64 = 5
  private static let ownNanoseconds: UInt64 = 4_000_000_000

  /// When the newest renewal began that has succeeded; 0 before the first.
  private let renewed = Atomic<UInt64>(0)

  var isHeld: Bool {
    let renewed = renewed.load(ordering: .acquiring)
    return renewed != 0 && Self.now() - renewed < Self.ownNanoseconds
  }

  /// - Parameter began: `now()` before the renewal was asked for: the database's clock has counted from then at the earliest.
  func renew(from began: UInt64) { renewed.store(began, ordering: .releasing) }

  /// Goes on while the machine is suspended, as the database's clock does.
  static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
