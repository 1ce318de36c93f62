import Synchronization
import Telemetry

/// A whole small answer, before it is HTTP.
struct PlainAnswer: Sendable, Equatable {
  let status: Int
  let contentType: String
  let body: [UInt8]
}

/// What `/health` and `/metrics` answer. `/health` is served beside the Client-Server API and on `metrics_bind`, `/metrics` only on `metrics_bind`.
final class OperationsPages: Sendable {
  /// What a load balancer should know.
  enum State: String, Sendable { case starting, ok, stopping }

  private let state = Mutex(State.starting)
  private let metrics: Metrics

  init(metrics: Metrics = .process) { self.metrics = metrics }

  /// `serve` sets `ok` when it listens and `stopping` before it waits for open requests.
  func set(_ new: State) { state.withLock { $0 = new } }

  /// `{"status":"ok"}` with 200, else with 503, so that a load balancer sends no new requests.
  func health() -> PlainAnswer {
    let state = state.withLock { $0 }
    return PlainAnswer(
      status: state == .ok ? 200 : 503, contentType: "application/json",
      body: Array(#"{"status":"\#(state.rawValue)"}"#.utf8))
  }

  func metricsPage() -> PlainAnswer {
    PlainAnswer(status: 200, contentType: Metrics.contentType, body: metrics.exposition())
  }
}
