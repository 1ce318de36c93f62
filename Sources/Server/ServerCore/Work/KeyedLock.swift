import Synchronization

/// Lets one task at a time work on what a key names, in the order of asking. Waiting takes no thread.
package final class KeyedLock: Sendable {

  package init() {}
  /// The tasks that wait, by key; a key that is there is held.
  private let waiting = Mutex<[String: [UnsafeContinuation<Void, Never>]]>([:])

  package func withLock<Result>(_ key: String, _ body: () async throws -> Result) async rethrows -> Result {
    await acquire(key)
    defer { release(key) }
    return try await body()
  }

  private func acquire(_ key: String) async {
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      let isFree = waiting.withLock { waiting in
        guard waiting[key] != nil else {
          waiting[key] = []
          return true
        }
        waiting[key]?.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  private func release(_ key: String) {
    let next = waiting.withLock { waiting -> UnsafeContinuation<Void, Never>? in
      guard var queue = waiting[key], !queue.isEmpty else {
        waiting[key] = nil
        return nil
      }
      let next = queue.removeFirst()
      waiting[key] = queue
      return next
    }
    next?.resume()
  }
}
