import JSON
import MatrixModel
import Testing

@testable import CallCore

/// Time and chance of a run: what is to happen later, in the order of its time.
final class Simulation {
  private(set) var now: Int64 = 1_000_000
  private var queue: [(at: Int64, order: Int, action: () -> Void)] = []
  private var order = 0
  private var random: RandomSource

  init(seed: UInt64) { random = RandomSource(seed: seed) }

  func after(_ milliseconds: Int64, _ action: @escaping () -> Void) { at(now + milliseconds, action) }

  func at(_ time: Int64, _ action: @escaping () -> Void) {
    order += 1
    let entry = (at: max(time, now), order: order, action: action)
    let place = queue.firstIndex { $0.at > entry.at } ?? queue.count
    queue.insert(entry, at: place)
  }

  /// Everything that happens until then.
  func run(for milliseconds: Int64) {
    let end = now + milliseconds
    var steps = 0
    while let next = queue.first, next.at <= end {
      queue.removeFirst()
      now = next.at
      next.action()
      steps += 1
      if steps > 2_000_000 {
        Issue.record("the run does not come to rest")
        return
      }
    }
    now = end
  }

  func chance(_ percent: Int64) -> Bool { below(100) < percent }
  func below(_ bound: Int64) -> Int64 { random.next(below: bound) }
  func between(_ low: Int64, _ high: Int64) -> Int64 { low + below(high - low + 1) }
  func seed() -> UInt64 { random.next() }
}
