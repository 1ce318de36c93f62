import ClientCore

/// Carries requests to a homeserver. Ends early with `networkError` when the task is cancelled.
public protocol Transport: Sendable {
  /// - Parameters:
  ///   - body: the request's own body or the bytes of an upload.
  ///   - homeserver: `https://host[:port]`, without a slash at the end.
  func send(_ request: HTTPRequest, body: [UInt8]?, to homeserver: String) async -> Response
}
