/// A handle on something scheduled with `EventLoop.schedule`; cancelling is allowed from any thread, at any time, repeatedly.
// @unchecked: `position` and `action` are confined to the loop's thread.
package final class TimerToken: @unchecked Sendable {
  /// Nanoseconds of the monotonic clock.
  let deadline: UInt64
  var action: (@Sendable () -> Void)?
  /// Where the token stands in the queue, or -1.
  var position = -1
  private let loop: EventLoop

  init(loop: EventLoop, deadline: UInt64, action: @escaping @Sendable () -> Void) {
    self.loop = loop
    self.deadline = deadline
    self.action = action
  }

  /// Takes the timer out. Called on the loop, its action is guaranteed not to run any more; called elsewhere, it may be
  /// running or run once before the loop hears of it.
  package func cancel() {
    if loop.isCurrent { loop.remove(self) } else { loop.submit { [self] in loop.remove(self) } }
  }
}

/// A binary heap of tokens by deadline; each token knows its position, so removal is O(log n) as well.
struct TimerQueue {
  private var heap: ContiguousArray<TimerToken> = []

  var count: Int { heap.count }
  var first: TimerToken? { heap.first }

  mutating func insert(_ token: TimerToken) {
    token.position = heap.count
    heap.append(token)
    siftUp(from: heap.count - 1)
  }

  mutating func remove(_ token: TimerToken) {
    let position = token.position
    guard position >= 0 else { return }
    token.position = -1
    let last = heap.removeLast()
    guard last !== token else { return }
    place(last, at: position)
    siftDown(from: position)
    siftUp(from: last.position)
  }

  private mutating func place(_ token: TimerToken, at position: Int) {
    heap[position] = token
    token.position = position
  }

  private mutating func siftUp(from start: Int) {
    var child = start
    let token = heap[child]
    while child > 0 {
      let parent = (child - 1) / 2
      guard token.deadline < heap[parent].deadline else { break }
      place(heap[parent], at: child)
      child = parent
    }
    place(token, at: child)
  }

  private mutating func siftDown(from start: Int) {
    var parent = start
    let token = heap[parent]
    while true {
      var child = 2 * parent + 1
      guard child < heap.count else { break }
      if child + 1 < heap.count && heap[child + 1].deadline < heap[child].deadline { child += 1 }
      guard heap[child].deadline < token.deadline else { break }
      place(heap[child], at: parent)
      parent = child
    }
    place(token, at: parent)
  }
}
