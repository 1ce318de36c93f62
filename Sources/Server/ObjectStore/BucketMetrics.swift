import Telemetry

/// What the bucket costs.
struct BucketMetrics: Sendable {
  private let seconds: [BucketRequest.Operation: Histogram]
  private let errors: CounterFamily

  init(_ metrics: Metrics) {
    let family = metrics.histogram(
      "martlet_bucket_seconds", "Time of one request to the media bucket, without what its repetitions took.",
      labels: ["operation"])
    seconds = Dictionary(
      uniqueKeysWithValues: BucketRequest.Operation.allCases.map { ($0, family.labelled($0.rawValue)) })
    errors = metrics.counter(
      "martlet_bucket_errors_total",
      "Requests to the media bucket that failed, each try counted; not those for an object that is not there.",
      labels: ["operation", "kind"])
  }

  func observe(_ operation: BucketRequest.Operation, _ duration: Duration) { seconds[operation]?.observe(duration) }

  func count(_ error: BucketError, in operation: BucketRequest.Operation) {
    let kind =
      switch error {
      case .noObject: ""
      case .unavailable: "unavailable"
      case .wrongKey, .denied, .noBucket, .clock: "configuration"
      case .damaged: "damaged"
      case .refused: "refused"
      }
    if !kind.isEmpty { errors.labelled(operation.rawValue, kind).add() }
  }
}
