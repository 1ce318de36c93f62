import EventContent
import JSON
import MatrixModel

/// A response, read.
package enum Answer: Sendable {
  case success(JSON)
  indirect case refused(MatrixError, body: JSON?)
  case networkError
  case untrustedServer
  case blobIsGone
  /// Nobody waits for it any more.
  case cancelled
  /// 2xx, but no JSON.
  case unreadable

  package init(_ response: Response) {
    switch response {
    case .networkError: self = .networkError
    case .untrustedServer: self = .untrustedServer
    case .blobIsGone: self = .blobIsGone
    case .decrypted(let body): self = Answer.parse(body).map { Answer.success($0) } ?? .unreadable
    case .answer(let status, let body):
      let json = Answer.parse(body).flatMap { EventMarks.removed(from: $0) }
      if (200..<300).contains(status) {
        if let json { self = .success(json) } else { self = .unreadable }
      } else {
        self = .refused(MatrixError(status: status, body: json), body: json)
      }
    }
  }

  package static func parse(_ body: [UInt8]) -> JSON? {
    do throws(JSONError) { return try JSON.parse(body, limits: JSONLimits(depth: 1_000)) } catch { return nil }
  }

  /// nil for success.
  package var error: ClientError? {
    switch self {
    case .success: nil
    case .refused(let error, _):
      .refused(
        status: error.status, code: error.code, message: ByteString(error.message),
        retryAfterMilliseconds: error.retryAfterMilliseconds)
    case .networkError: .network
    case .untrustedServer: .untrustedServer
    case .cancelled: .cancelled
    case .blobIsGone: .attachmentIsGone
    case .unreadable: .badAnswer
    }
  }

  /// Whether the same request may succeed later: no answer, the server in trouble, too many requests.
  package var isTransient: Bool {
    switch self {
    case .networkError, .untrustedServer, .unreadable: true
    case .refused(let error, _):
      error.status >= 500 || error.status == 429 || error.status == 408 || error.code == .limitExceeded
    case .success, .blobIsGone, .cancelled: false
    }
  }

  package var retryAfterMilliseconds: Int64? {
    if case .refused(let error, _) = self { return error.retryAfterMilliseconds }
    return nil
  }
}
