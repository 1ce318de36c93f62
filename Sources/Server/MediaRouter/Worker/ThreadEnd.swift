/// How a thread is asked to end, and who waits until it has. It stands with what else the thread's mutex guards.
package struct ThreadEnd: Sendable {
  package private(set) var isWanted = false
  private var isOver: Bool
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// - Parameter hasBegun: false where a thread that never ran is not waited for.
  package init(hasBegun: Bool = true) { isOver = !hasBegun }

  package mutating func begin() { isOver = false }

  /// False where the thread has ended already, and resumes nobody any more.
  package mutating func wait(_ done: CheckedContinuation<Void, Never>) -> Bool {
    isWanted = true
    if !isOver { waiting.append(done) }
    return !isOver
  }

  /// Called last by the thread. Returns the tasks to resume.
  package mutating func finish() -> [CheckedContinuation<Void, Never>] {
    isOver = true
    defer { waiting = [] }
    return waiting
  }
}
