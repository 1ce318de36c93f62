import Synchronization
import Telemetry

/// A small, complete response that does not depend on HTTP types.
struct PlainAnswer: Sendable, Equatable {
  let status: Int
  let contentType: String
  let body: [UInt8]
}

/// The responses of `/health`, `/ready` and `/metrics`. The server answers the first two on `bind` and `metrics_bind`, and `/metrics` only on
/// `metrics_bind`.
final class OperationsPages: Sendable {
  /// The state of the server, for a load balancer.
  enum State: String, Sendable { case starting, ok, stopping }

  private let state = Mutex(State.starting)
  private let metrics: Metrics
  private let trouble = Mutex<@Sendable () -> String?>({ nil })
  private let probe = Mutex<@Sendable () async -> Bool>({ true })

  init(metrics: Metrics = .process) { self.metrics = metrics }

  /// Sets the state. `serve` sets `ok` when it listens, and `stopping` before it waits for open requests.
  func set(_ new: State) { state.withLock { $0 = new } }

  /// Asks `trouble` at each request for the reason why a running server cannot do all of its work: a sentence without
  /// quotation marks, or nil.
  func watch(_ trouble: @escaping @Sendable () -> String?) { self.trouble.withLock { $0 = trouble } }

  /// Asks `probe` at each request for `/ready` whether the database answers.
  func ask(_ probe: @escaping @Sendable () async -> Bool) { self.probe.withLock { $0 = probe } }

  /// Returns `{"status":"ready"}` and 200 if requests can be answered now: the server has started, does not stop, can store, and its database
  /// answers. Otherwise 503. `/health` says whether the server itself lives, and does not ask the database.
  func ready() async -> PlainAnswer {
    let health = health()
    guard health.status == 200 else { return health }
    if await probe.withLock({ $0 })() {
      return PlainAnswer(status: 200, contentType: "application/json", body: Array(#"{"status":"ready"}"#.utf8))
    }
    return PlainAnswer(
      status: 503, contentType: "application/json",
      body: Array(#"{"status":"failing","reason":"the database does not answer"}"#.utf8))
  }

  /// Returns the state as `{"status":"ok"}`. The status is 200 for `ok`, and otherwise 503, so that a load balancer sends no
  /// new requests. A running server that cannot do all of its work is `failing`, with a `reason`.
  func health() -> PlainAnswer {
    let state = state.withLock { $0 }
    if state == .ok, let reason = trouble.withLock({ $0 })() {
      return PlainAnswer(
        status: 503, contentType: "application/json", body: Array(#"{"status":"failing","reason":"\#(reason)"}"#.utf8))
    }
    return PlainAnswer(
      status: state == .ok ? 200 : 503, contentType: "application/json",
      body: Array(#"{"status":"\#(state.rawValue)"}"#.utf8))
  }

  func metricsPage() -> PlainAnswer {
    PlainAnswer(status: 200, contentType: Metrics.contentType, body: metrics.exposition())
  }
}
