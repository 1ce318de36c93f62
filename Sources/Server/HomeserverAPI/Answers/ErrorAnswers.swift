import Database
import EventLoop
import HTTPServer
import JSON
import MatrixModel
import ServerAccounts
import Telemetry

/// Every error of the layers below as the standard error response: the one place where this is decided.
///
/// Spec: Client-Server API, "Standard error response".
struct ErrorAnswers: Sendable {
  let log: Log

  @Sendable func response(_ error: any Error, _ request: Request) -> Response {
    switch error {
    case let error as MatrixError: return Self.response(error)
    case let challenge as InteractiveAuthenticationChallenge:
      return .json(status: .unauthorized) { challenge.write(to: &$0) }
    case let error as HTTPError: return Self.response(Self.matrixError(error))
    case BlockingPoolError.queueFull, DatabaseError.overloaded:
      return Self.response(.limitExceeded(retryAfterMilliseconds: 1_000))
    case is CancellationError:
      return Self.response(MatrixError(status: 503, .unknown, "The request was cancelled."))
    default:
      log.error(
        "request failed",
        ["request": .text(request.id), "route": .text(request.routePattern), "error": .text("\(error)")])
      return Self.response(.unknown("The server failed; its log says more about request \(request.id)."))
    }
  }

  static func response(_ error: MatrixError) -> Response {
    var response = Response.json(status: Status(error.status)) { error.write(to: &$0) }
    if let milliseconds = error.retryAfterMilliseconds {
      // Whole seconds, rounded up. RFC 9110 §10.2.3.
      response.headers["Retry-After"] = String(max(1, (milliseconds + 999) / 1_000))
    }
    return response
  }

  private static func matrixError(_ error: HTTPError) -> MatrixError {
    switch error {
    case .bodyTooLarge(let limit): .tooLarge("The body is longer than \(limit) bytes.")
    case .malformedPath: .invalidParameter("The path is not percent-encoded UTF-8.")
    default: .unknown(status: Int(error.status.code), error.status.reason.description)
    }
  }
}
