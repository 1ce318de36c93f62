import HTTPServer
import JSON

/// Why an application's server does not get what it asks for: `{"code": 404, "message": "…"}`, as OpenTok's SDKs read it.
struct RESTError: Error {
  let status: Status
  let message: String
  var retryAfterMilliseconds: Int64?

  init(_ status: Status, _ message: String, retryAfterMilliseconds: Int64? = nil) {
    self.status = status
    self.message = message
    self.retryAfterMilliseconds = retryAfterMilliseconds
  }

  init(_ refusal: CallRefusal) {
    let status: Status =
      switch refusal.code {
      case .notFound, .gone: .notFound
      case .unauthorized, .forbidden: .forbidden
      case .tooLarge: .contentTooLarge
      case .limit, .tooSlow: .tooManyRequests
      case .shuttingDown: 503
      case .invalid, .replaced, .forced, .ended: .badRequest
      }
    self.init(status, refusal.message, retryAfterMilliseconds: refusal.retryAfterMilliseconds)
  }

  static func invalid(_ message: String) -> RESTError { RESTError(.badRequest, message) }

  var response: Response {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("code", Int64(status.code))
      writer.member("message", message)
    }
    var response = Response.json(writer.bytes, status: status)
    // Whole seconds, rounded up. RFC 9110 §10.2.3.
    if let wait = retryAfterMilliseconds { response.headers["Retry-After"] = String(max(1, (wait + 999) / 1_000)) }
    return response
  }
}
