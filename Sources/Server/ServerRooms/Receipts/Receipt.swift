import JSON
import MatrixModel

/// How far one user has read one room, or one thread of it. Spec: Client-Server API, "Receipts".
package struct Receipt: Sendable {
  package enum Kind: Int64, Sendable {
    case read, readPrivate
    /// Ours: the event has reached a device.
    case delivered

    package var name: StaticString {
      switch self {
      case .read: "m.read"
      case .readPrivate: "m.read.private"
      case .delivered: "martlet.delivered"
      }
    }

    package var isPublic: Bool { self != .readPrivate }
  }

  package let user: UserID
  package let kind: Kind
  /// "" for an unthreaded receipt, `main`, or a thread root's event ID.
  package let thread: ByteString
  package let eventID: EventID
  /// Position of the event.
  package let event: Int64
  /// Milliseconds since 1970.
  package let timestamp: Int64
  /// Position of the receipt itself.
  package let position: Int64

  /// Whether it takes the place of `other`.
  package func replaces(_ other: Receipt) -> Bool { user == other.user && kind == other.kind && thread == other.thread }

  func isVisible(to reader: UserID) -> Bool { kind.isPublic || user == reader }
}

/// What one user has read of a room, all their receipts taken together: positions of events.
package struct ReadPositions: Sendable, Hashable {
  /// Everything up to here.
  package var all: Int64 = 0
  /// More than that of one thread; `main` for what is in none.
  package var threads: [ByteString: Int64] = [:]

  package init() {}

  mutating func note(_ receipt: Receipt) {
    if receipt.thread.isEmpty {
      all = max(all, receipt.event)
    } else {
      threads[receipt.thread] = max(threads[receipt.thread] ?? 0, receipt.event)
    }
  }

  package func hasRead(_ position: Int64, in thread: ByteString) -> Bool {
    position <= all || position <= threads[thread] ?? 0
  }
}
