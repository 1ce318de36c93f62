import Database
import Synchronization

/// What became of keys and messages of devices since the server started, for `/metrics`: of what this node did.
package final class DeviceCensus: Sendable {
  package enum Figure: Int, CaseIterable, Sendable {
    /// One-time keys that devices uploaded, those of a repeated upload left out.
    case uploadedKeys
    /// One-time keys that were given to those who claimed one.
    case claimedKeys
    /// Claims that were answered with the fallback key, as the device had no one-time key left.
    case fallbackClaims
    /// Claims of a device that had neither.
    case emptyClaims
    /// Messages to devices, each receiver counted.
    case sentMessages
    /// Messages of devices that were away for so long that there were too many.
    case droppedMessages
    /// Messages that wait for their devices now, those of before the start as well.
    case waitingMessages
  }

  private let figures = Mutex([Int](repeating: 0, count: Figure.allCases.count))

  package init() {}

  package subscript(_ figure: Figure) -> Int { figures.withLock { $0[figure.rawValue] } }

  func add(_ count: Int, to figure: Figure) {
    if count != 0 { figures.withLock { $0[figure.rawValue] += count } }
  }

  /// Counts what a job does, and takes it back if the job is undone.
  func add(_ count: Int, to figure: Figure, in tx: WriteTransaction) {
    guard count != 0 else { return }
    add(count, to: figure)
    tx.onRollback { self.add(-count, to: figure) }
  }

  /// Counts what waits from before the start. To be called before anything is written.
  package func countWaiting(_ tx: ReadTransaction) throws {
    add(try tx.first("SELECT COUNT(*) FROM to_device") { Int($0.integer(0)) } ?? 0, to: .waitingMessages)
  }
}
