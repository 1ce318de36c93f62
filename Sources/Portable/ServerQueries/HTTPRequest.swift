import JSON
import MatrixModel

/// One request to the homeserver. The body, where there is one, is JSON, but for uploads.
public struct HTTPRequest: Sendable {
  public var method: Endpoint.Method
  /// Path and query, percent-encoded; begins with `/`.
  public var target: String
  public var body: [UInt8]?
  /// Of the body; nil without one.
  public var contentType: String?
  /// Goes into `Authorization: Bearer …`; nil where the endpoint wants none.
  public var accessToken: ByteString?
  /// After which the host gives up with `networkError`.
  public var timeoutMilliseconds: Int64

  package init(
    method: Endpoint.Method, target: String, body: [UInt8]?, contentType: String?, accessToken: ByteString?,
    timeoutMilliseconds: Int64
  ) {
    self.method = method
    self.target = target
    self.body = body
    self.contentType = contentType
    self.accessToken = accessToken
    self.timeoutMilliseconds = timeoutMilliseconds
  }
}

/// Without token, query and body, in which secrets may stand: it may stand in a log.
extension HTTPRequest: CustomStringConvertible {
  public var description: String {
    let name =
      switch method {
      case .get: "GET "
      case .put: "PUT "
      case .post: "POST "
      case .delete: "DELETE "
      }
    return name + String(decoding: target.utf8.prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self)
  }
}
