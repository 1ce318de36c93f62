import JSON

/// The standard error of the Matrix APIs: an HTTP status, an `errcode` and a sentence for people.
///
/// The server's pairs of status and code are the constructors below, each with its place in the spec; a client reads any
/// answer with `init(status:body:)`. Spec: Client-Server API, "Standard error response".
public struct MatrixError: Error, Sendable {
  /// HTTP status, 400 to 599.
  public let status: Int
  public let code: ErrorCode
  public let message: String
  /// Milliseconds to wait, with `M_LIMIT_EXCEEDED`.
  public var retryAfterMilliseconds: Int64?
  /// Whether the client may log in again and keep its data, with `M_UNKNOWN_TOKEN`.
  public var softLogout: Bool?
  /// The backup that keys can be stored in, with `M_WRONG_ROOM_KEYS_VERSION`.
  public var currentVersion: ByteString?
  /// The longest delay that the server allows, where a delayed event asks for more. Spec: MSC4140.
  public var maxDelayMilliseconds: Int64?
  /// The URI by which to reach the server's administrator, with `M_RESOURCE_LIMIT_EXCEEDED`.
  public var adminContact: String?

  public init(status: Int, _ code: ErrorCode, _ message: String) {
    self.status = status
    self.code = code
    self.message = message
  }

  /// Reads an answer; an unreadable body becomes `M_UNKNOWN`.
  public init(status: Int, body: JSON?) {
    self.init(
      status: status, ErrorCode(body?.text("errcode") ?? ErrorCode.unknown.text), body?["error"]?.string ?? "")
    retryAfterMilliseconds = body?.integer("retry_after_ms")
    softLogout = body?.bool("soft_logout")
    currentVersion = body?.text("current_version")
    maxDelayMilliseconds = body?.integer("org.matrix.msc4140.max_delay")
    adminContact = body?["admin_contact"]?.string
  }

  public func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("errcode", code.text)
      writer.member("error", message)
      if let retryAfterMilliseconds { writer.member("retry_after_ms", retryAfterMilliseconds) }
      if let softLogout { writer.member("soft_logout", softLogout) }
      if let currentVersion { writer.member("current_version", currentVersion) }
      if let adminContact { writer.member("admin_contact", adminContact) }
      if let maxDelayMilliseconds {
        writer.member("org.matrix.msc4140.errcode", "M_MAX_DELAY_EXCEEDED")
        writer.member("org.matrix.msc4140.max_delay", maxDelayMilliseconds)
      }
    }
  }
}

extension MatrixError {
  // "Common error codes" and "Client authentication", with the statuses given there.
  public static func forbidden(_ message: String) -> MatrixError { .init(status: 403, .forbidden, message) }
  public static func notFound(_ message: String) -> MatrixError { .init(status: 404, .notFound, message) }
  public static func missingToken() -> MatrixError { .init(status: 401, .missingToken, "No access token was given.") }

  public static func unknownToken(softLogout: Bool = false) -> MatrixError {
    var error = MatrixError(status: 401, .unknownToken, "The access token is not known; log in again.")
    error.softLogout = softLogout
    return error
  }

  /// "Account locking".
  public static func userLocked() -> MatrixError {
    var error = MatrixError(status: 401, .userLocked, "This account has been locked by the server's administrators.")
    error.softLogout = true
    return error
  }

  /// "Account suspension".
  public static func userSuspended() -> MatrixError {
    .init(status: 403, .userSuspended, "You cannot perform this action while your account is suspended.")
  }

  /// "Guest Access".
  public static func guestAccessForbidden(
    _ message: String = "Guests may not do this; register an account first."
  ) -> MatrixError {
    .init(status: 403, .guestAccessForbidden, message)
  }

  public static func notJSON(_ message: String = "The body is not JSON.") -> MatrixError {
    .init(status: 400, .notJSON, message)
  }
  public static func badJSON(_ message: String) -> MatrixError { .init(status: 400, .badJSON, message) }
  public static func missingParameter(_ name: String) -> MatrixError {
    .init(status: 400, .missingParameter, "'\(name)' is missing.")
  }
  public static func invalidParameter(_ message: String) -> MatrixError { .init(status: 400, .invalidParameter, message) }
  public static func tooLarge(_ message: String) -> MatrixError { .init(status: 413, .tooLarge, message) }

  /// 404 for an unknown path, 405 for a known path with another method.
  public static func unrecognized(status: Int) -> MatrixError {
    .init(status: status, .unrecognized, status == 405 ? "This path has no such method." : "There is no such endpoint.")
  }

  /// "Rate limiting".
  public static func limitExceeded(retryAfterMilliseconds: Int64) -> MatrixError {
    var error = MatrixError(status: 429, .limitExceeded, "Too many requests; try again later.")
    error.retryAfterMilliseconds = retryAfterMilliseconds
    return error
  }

  public static func unknown(status: Int = 500, _ message: String) -> MatrixError {
    .init(status: status, .unknown, message)
  }
}
