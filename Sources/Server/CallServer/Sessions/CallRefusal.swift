import JSON

/// Why a request is refused or a socket closed, in the words of the socket.
package struct CallRefusal: Error, Sendable, Equatable {
  package enum Code: String, Sendable {
    case unauthorized, forbidden, invalid, limit, gone, replaced, forced, ended
    case notFound = "not_found"
    case tooLarge = "too_large"
    case tooSlow = "too_slow"
    case shuttingDown = "shutting_down"
  }

  package let code: Code
  package let message: String
  /// When there is a chance again.
  package var retryAfterMilliseconds: Int64?

  package init(_ code: Code, _ message: String, retryAfterMilliseconds: Int64? = nil) {
    self.code = code
    self.message = message
    self.retryAfterMilliseconds = retryAfterMilliseconds
  }

  /// Whether a new `connect` may do better without anybody's doing.
  package var isWorthRetrying: Bool {
    code == .shuttingDown || code == .gone || code == .tooSlow || retryAfterMilliseconds != nil
  }

  static func invalid(_ message: String) -> CallRefusal { CallRefusal(.invalid, message) }
  static func forbidden(_ role: Role) -> CallRefusal { CallRefusal(.forbidden, "The role \(role.rawValue) may not do this.") }
  package static let byModerator = CallRefusal(.forced, "A moderator or the application has ended this connection.")
  static let noStream = CallRefusal(.notFound, "There is no such stream.")
  static let noConnection = CallRefusal(.notFound, "There is no such connection.")
}
