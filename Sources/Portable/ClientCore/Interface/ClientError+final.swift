import MatrixModel
import ServerQueries

extension ClientError {
  /// Whether another try of a host by itself would end the same. A person may have to authenticate, or did not want to.
  package var isFinal: Bool {
    switch self {
    case .authenticationNeeded, .cancelled: true
    case .refused(let status, _, _, _): (400..<500).contains(status) && status != 401 && status != 429
    default: false
    }
  }
}
