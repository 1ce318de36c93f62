import Synchronization

/// A closure on its way to a database thread, and how its caller hears of it.
struct Job<Transaction>: Sendable {
  let isCancelled: @Sendable () -> Bool
  /// Runs the closure; the result tells the caller it succeeded, once that is true.
  let perform: @Sendable (Transaction) throws -> @Sendable () -> Void
  let fail: @Sendable (any Error) -> Void
  /// What it will read.
  let questions: (@Sendable () -> [Question])?

  init<Value: Sendable>(
    asking questions: (@Sendable () -> [Question])? = nil, _ body: @escaping @Sendable (Transaction) throws -> Value,
    cancellation: Cancellation?,
    completion: @escaping @Sendable (Result<Value, any Error>) -> Void
  ) {
    self.questions = questions
    isCancelled = { cancellation?.isRequested ?? false }
    perform = { transaction in
      let value = try body(transaction)
      return { completion(.success(value)) }
    }
    fail = { completion(.failure($0)) }
  }
}

/// Set when the caller is cancelled: a job that has not started is then dropped.
final class Cancellation: Sendable {
  private let flag = Atomic<Bool>(false)
  var isRequested: Bool { flag.load(ordering: .relaxed) }
  func request() { flag.store(true, ordering: .relaxed) }
}

extension BoundedQueue {
  /// Queues `body` and suspends until a worker has finished it.
  nonisolated(nonsending) func run<Transaction, Value: Sendable>(
    asking questions: (@Sendable () -> [Question])? = nil, _ body: @escaping @Sendable (Transaction) throws -> Value
  ) async throws -> Value where Element == Job<Transaction> {
    let cancellation = Cancellation()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        do throws(DatabaseError) {
          try add(Job(asking: questions, body, cancellation: cancellation) { continuation.resume(with: $0) })
        } catch {
          continuation.resume(throwing: error)
        }
      }
    } onCancel: {
      cancellation.request()
    }
  }

  /// Queues `body` and blocks the calling thread until a worker has finished it.
  func runBlocking<Transaction, Value: Sendable>(
    _ body: @escaping @Sendable (Transaction) throws -> Value
  ) throws -> Value where Element == Job<Transaction> {
    let answer = BoundedQueue<Result<Value, any Error>>(limit: 1)
    try add(
      Job(body, cancellation: nil) { result in
        do throws(DatabaseError) { try answer.add(result) } catch {
          preconditionFailure("a job answers once: \(error)")
        }
      })
    var results: [Result<Value, any Error>] = []
    _ = answer.take(upTo: 1, into: &results)
    return try results[0].get()
  }
}
