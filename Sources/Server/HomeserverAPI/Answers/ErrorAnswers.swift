import Database
import EventLoop
import HTTPServer
import JSON
import MatrixModel
import ObjectStore
import ServerAccounts
import ServerCore
import ServerMedia
import Telemetry

/// Every error of the layers below as the standard error response: the one place where this is decided.
///
/// Spec: Client-Server API, "Standard error response".
struct ErrorAnswers: Sendable {
  let log: Log
  let refusals: RefusalLog
  let disk: DiskSpace
  /// The URI of an administrator, for the answer while the disk is full; nil if the operator names none.
  let adminContact: String?

  @Sendable func response(_ error: any Error, _ request: Request) -> Response {
    switch error {
    case let error as MatrixError: return Self.response(error)
    case let challenge as InteractiveAuthenticationChallenge:
      return .json(status: .unauthorized) { challenge.write(to: &$0) }
    // Of a node that is gone, or by a way on which nothing is forwarded.
    case let elsewhere as Elsewhere: return response(elsewhere.otherwise, request)
    case let error as HTTPError: return Self.response(Self.matrixError(error))
    case BlockingPoolError.queueFull, DatabaseError.overloaded:
      return Self.response(.limitExceeded(retryAfterMilliseconds: 1_000))
    // Text with U+0000, which PostgreSQL cannot store.
    case DatabaseError.constraint(.dataType, _):
      return Self.response(.badJSON("The request has text that the server cannot store, such as U+0000."))
    case DatabaseError.unavailable(let message):
      refusals.add(message)
      return Self.away("The server cannot reach its database. Try again in a moment.")
    case BucketError.noObject: return Self.response(.notFound("The content is gone."))
    case let error as BucketError:
      log.error("the media bucket did not do its part", ["request": .text(request.id), "error": .text("\(error)")])
      return Self.away("The server cannot reach the storage of its files. Try again in a moment.")
    case is DiskFullError: return diskFull(hasFailed: false)
    case DatabaseError.full: return diskFull(hasFailed: true)
    // For some files SQLite reports only that it could not write them.
    case DatabaseError.io where disk.trouble != nil: return diskFull(hasFailed: true)
    case let error as MediaFileError where error.isForWantOfSpace: return diskFull(hasFailed: true)
    case is CancellationError:
      return Self.response(MatrixError(status: 503, .unknown, "The request was cancelled."))
    default:
      log.error(
        "request failed",
        ["request": .text(request.id), "route": .text(request.routePattern), "error": .text("\(error)")])
      return Self.response(.unknown("The server failed; its log says more about request \(request.id)."))
    }
  }

  /// Returns 507 and logs one line a minute. The code is `M_RESOURCE_LIMIT_EXCEEDED` if there is a contact: the specification requires
  /// `admin_contact` with it. Spec: "Standard error response".
  private func diskFull(hasFailed: Bool) -> Response {
    if let refused = disk.countRefusal(hasFailed: hasFailed) {
      let free = disk.current?.freeBytes ?? -1
      log.error(
        "the disk of the data folder is full: requests that need space are refused",
        ["refused": .integer(refused), "free_bytes": .integer(free)])
    }
    var error = MatrixError(
      status: 507, adminContact == nil ? .unknown : .resourceLimitExceeded,
      "The server's disk is full. Nothing new can be stored until its administrator frees space; reading and deleting still work."
    )
    error.adminContact = adminContact
    return Self.response(error)
  }

  /// Something that the server needs is away for now.
  private static func away(_ message: String) -> Response {
    var response = response(MatrixError(status: 503, .unknown, message))
    response.headers["Retry-After"] = "1"
    return response
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
