/// A response's status code, 100 to 999. RFC 9110 §15.
package struct Status: Sendable, Hashable, ExpressibleByIntegerLiteral, CustomStringConvertible {
  package let code: UInt16

  /// - Precondition: `code` is in 100...999.
  package init(_ code: Int) {
    precondition((100...999).contains(code), "a status has three digits")
    self.code = UInt16(code)
  }

  package init(integerLiteral code: Int) { self.init(code) }

  package var description: String { String(code) }

  /// Whether the standard forbids a body: 1xx, 204 and 304.
  package var forbidsBody: Bool { code < 200 || code == 204 || code == 304 }

  package static let ok: Status = 200
  package static let created: Status = 201
  package static let accepted: Status = 202
  package static let noContent: Status = 204
  package static let partialContent: Status = 206
  package static let movedPermanently: Status = 301
  package static let found: Status = 302
  package static let notModified: Status = 304
  package static let temporaryRedirect: Status = 307
  package static let badRequest: Status = 400
  package static let unauthorized: Status = 401
  package static let forbidden: Status = 403
  package static let notFound: Status = 404
  package static let methodNotAllowed: Status = 405
  package static let requestTimeout: Status = 408
  package static let conflict: Status = 409
  package static let contentTooLarge: Status = 413
  package static let targetTooLong: Status = 414
  package static let unsupportedMediaType: Status = 415
  package static let rangeNotSatisfiable: Status = 416
  package static let upgradeRequired: Status = 426
  package static let tooManyRequests: Status = 429
  package static let headersTooLarge: Status = 431
  package static let internalServerError: Status = 500
  package static let notImplemented: Status = 501
  package static let badGateway: Status = 502
  package static let serviceUnavailable: Status = 503
  package static let gatewayTimeout: Status = 504
  package static let versionNotSupported: Status = 505

  /// The phrase of the status line; empty for a code without a registered one.
  package var reason: StaticString {
    switch code {
    case 100: "Continue"
    case 101: "Switching Protocols"
    case 200: "OK"
    case 201: "Created"
    case 202: "Accepted"
    case 204: "No Content"
    case 206: "Partial Content"
    case 301: "Moved Permanently"
    case 302: "Found"
    case 303: "See Other"
    case 304: "Not Modified"
    case 307: "Temporary Redirect"
    case 308: "Permanent Redirect"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 408: "Request Timeout"
    case 409: "Conflict"
    case 410: "Gone"
    case 412: "Precondition Failed"
    case 413: "Content Too Large"
    case 414: "URI Too Long"
    case 415: "Unsupported Media Type"
    case 416: "Range Not Satisfiable"
    case 426: "Upgrade Required"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 502: "Bad Gateway"
    case 503: "Service Unavailable"
    case 504: "Gateway Timeout"
    case 505: "HTTP Version Not Supported"
    case 507: "Insufficient Storage"
    default: ""
    }
  }
}
