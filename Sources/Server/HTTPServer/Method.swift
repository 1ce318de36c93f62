import CLLHTTP

/// A request method this server can route. RFC 9110 §9; PATCH is RFC 5789.
package enum Method: UInt8, Sendable, CaseIterable, CustomStringConvertible {
  case delete
  case get
  case head
  case options
  case patch
  case post
  case put

  package var description: String {
    switch self {
    case .delete: "DELETE"
    case .get: "GET"
    case .head: "HEAD"
    case .options: "OPTIONS"
    case .patch: "PATCH"
    case .post: "POST"
    case .put: "PUT"
    }
  }

  /// nil for the many methods the parser knows and this server does not.
  init?(parsed: UInt8) {
    switch llhttp_method_t(UInt32(parsed)) {
    case HTTP_DELETE: self = .delete
    case HTTP_GET: self = .get
    case HTTP_HEAD: self = .head
    case HTTP_OPTIONS: self = .options
    case HTTP_PATCH: self = .patch
    case HTTP_POST: self = .post
    case HTTP_PUT: self = .put
    default: return nil
    }
  }
}
