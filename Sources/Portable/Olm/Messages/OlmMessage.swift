/// What one device sends to another. Spec: Client-Server API, "`m.olm.v1.curve25519-aes-sha2`".
package enum OlmMessage: Equatable, Sendable {
  case preKey([UInt8])
  case normal([UInt8])

  /// nil for a type that the specification does not have.
  package init?(type: Int64, body: [UInt8]) {
    switch type {
    case 0: self = .preKey(body)
    case 1: self = .normal(body)
    default: return nil
    }
  }

  package var type: Int64 {
    switch self {
    case .preKey: 0
    case .normal: 1
    }
  }

  package var body: [UInt8] {
    switch self {
    case .preKey(let body), .normal(let body): body
    }
  }
}
