import Outbound

/// Why the bucket did not do what was asked.
package enum BucketError: Error, Equatable, Sendable {
  /// No answer came, or one that asks to come again: the same request may succeed later.
  case unavailable(reason: String)
  /// The access key is unknown, or the secret key is another one.
  case wrongKey
  /// The access key may not do this.
  case denied
  case noBucket
  case noObject
  /// This machine's clock and the bucket's differ by more than the service allows; its own, if it says it.
  case clock(bucket: String?)
  /// What came is not the content that its name says.
  case damaged(key: String)
  /// Any other refusal, with the service's code.
  case refused(status: Int, code: String)

  /// Whether this is how the operator set the bucket up, so that waiting does not help.
  package var isConfiguration: Bool {
    switch self {
    case .wrongKey, .denied, .noBucket, .clock: true
    case .unavailable(let reason): reason == Self.untrusted
    case .noObject, .damaged, .refused: false
    }
  }

  fileprivate static let untrusted = "its certificate is not trusted; media.s3.ca_file names another authority"

  init(_ error: OutboundError) {
    let reason =
      switch error {
      case .hostNotFound: "its host name is not known"
      case .cannotConnect: "nothing accepts connections there"
      case .untrustedServer: Self.untrusted
      case .timedOut: "it did not answer in time"
      case .tooBusy: "too many requests to it wait"
      case .shutDown: "the server stops"
      default: "the connection ended without an answer"
      }
    self = .unavailable(reason: reason)
  }
}

extension BucketError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .unavailable(let reason): "the bucket cannot be reached: \(reason)"
    case .wrongKey: "the bucket's service does not know media.s3.access_key, or media.s3.secret_key is not its secret"
    case .denied: "the access key may not do this in the bucket; it needs to list it, and to get, put and delete objects"
    case .noBucket: "there is no bucket of the name media.s3.bucket"
    case .noObject: "the bucket has no such object"
    case .clock(let bucket):
      "this machine's clock is wrong" + (bucket.map { ": the bucket's service says \($0)" } ?? "")
    case .damaged(let key): "the object \(key) does not have the content that its name says"
    case .refused(let status, let code): "the bucket refused a request with \(status) \(code)"
    }
  }
}
