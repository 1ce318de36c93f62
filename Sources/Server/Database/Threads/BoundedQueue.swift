import Glibc

/// A first-in, first-out queue between any threads and the worker threads that drain it.
///
/// Unchecked: every access to `elements`, `start` and `isClosed` is between `lock` and `unlock`.
final class BoundedQueue<Element: Sendable>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private let limit: Int
  private var elements: [Element?] = []
  private var start = 0
  private var isClosed = false

  init(limit: Int) {
    self.limit = limit
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Empty, and not closed.
  var isWaiting: Bool { locked { elements.count == start && !isClosed } }

  var count: Int { locked { elements.count - start } }

  /// Throws `.overloaded` at the limit, `.closed` after `close()`.
  func add(_ element: Element) throws(DatabaseError) {
    try put(element)
    // Without the lock: the worker that wakes would only wait for it.
    pthread_cond_signal(condition)
  }

  private func put(_ element: Element) throws(DatabaseError) {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    if isClosed { throw .closed }
    guard elements.count - start < limit else { throw .overloaded }
    elements.append(element)
  }

  /// Waits for an element, then moves up to `most` to the end of `batch`. False once the queue is closed and empty.
  func take(upTo most: Int, into batch: inout [Element]) -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while start == elements.count && !isClosed { pthread_cond_wait(condition, mutex) }
    guard start < elements.count else { return false }
    let end = start + min(most, elements.count - start)
    for index in start..<end {
      if let element = elements[index] { batch.append(element) }
      elements[index] = nil
    }
    start = end
    reclaim()
    return true
  }

  /// Lets what is queued be taken, refuses more, and ends the workers' waiting.
  func close() {
    locked {
      isClosed = true
      pthread_cond_broadcast(condition)
    }
  }

  // The taken front is dropped when it is the larger half, so that taking stays constant time on average.
  private func reclaim() {
    if start == elements.count {
      elements.removeAll(keepingCapacity: true)
      start = 0
    } else if start > 1_024, start * 2 > elements.count {
      elements.removeFirst(start)
      start = 0
    }
  }

  private func locked<Result>(_ body: () -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }
}
