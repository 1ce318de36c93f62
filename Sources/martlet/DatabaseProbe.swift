import Database
import Synchronization

/// Whether the database answers its writer, for a load balancer.
struct DatabaseProbe: Sendable {
  let database: Database
  /// A writer that has not answered by then is not asked on.
  private static let patience = Duration.seconds(2)

  /// Has the writer look at the stream's head, as each write does.
  func answers() async -> Bool {
    await withCheckedContinuation { continuation in
      let waiter = Waiter(continuation)
      let asked = Task {
        do { waiter.resume(try await database.write { try $0.first("SELECT 1") { _ in true } } ?? false) } catch {
          waiter.resume(false)
        }
      }
      Task {
        try? await Task.sleep(for: Self.patience)
        waiter.resume(false)
        // If it has not begun, it is not asked any more.
        asked.cancel()
      }
    }
  }

  /// Goes on with the first of two answers.
  private final class Waiter: Sendable {
    private let continuation: Mutex<CheckedContinuation<Bool, Never>?>

    init(_ continuation: CheckedContinuation<Bool, Never>) { self.continuation = Mutex(continuation) }

    func resume(_ answer: Bool) {
      continuation.withLock { continuation in
        defer { continuation = nil }
        return continuation
      }?.resume(returning: answer)
    }
  }
}
