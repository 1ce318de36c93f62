#if !canImport(Darwin)
  import CCurl
#endif

/// Where the socket of a call server is.
struct SocketAddress: Sendable, Equatable {
  /// What stands in front of calls on every server. Documentation/Decisions/0014-call-sessions.md.
  static let path = "/_martlet/call/v1/socket"
  static let bytesLimit = 2_048

  let isSecure: Bool
  /// As in URLs, so IPv6 in brackets.
  let host: String
  let port: UInt16
  /// With the query.
  let target: String

  /// nil where it is no address of a server (`http`, `https`) or socket (`ws`, `wss`).
  init?(_ url: String) {
    guard url.utf8.count <= Self.bytesLimit, let parts = URLParts(url) else { return nil }
    let isSocket = parts.scheme == "ws" || parts.scheme == "wss"
    guard isSocket || parts.scheme == "http" || parts.scheme == "https" else { return nil }
    isSecure = parts.scheme == "wss" || parts.scheme == "https"
    guard let port = parts.port.map({ UInt16($0) }) ?? (isSecure ? 443 : 80), port > 0 else { return nil }
    self.port = port
    host = parts.host
    target = isSocket ? parts.path + (parts.query.map { "?" + $0 } ?? "") : Self.path
  }

  /// As `Host` has it. RFC 9110 §7.2.
  var authority: String { port == (isSecure ? 443 : 80) ? host : "\(host):\(port)" }

  /// What libcurl connects to.
  var connectionURL: String { "\(isSecure ? "https" : "http")://\(host):\(port)/" }
}

/// A URL taken apart by libcurl.
private struct URLParts {
  var scheme: String
  var host: String
  var port: String?
  var path: String
  var query: String?

  init?(_ text: String) {
    guard let url = curl_url() else { return nil }
    defer { curl_url_cleanup(url) }
    // Our schemes of sockets are not libcurl's.
    guard curl_url_set(url, CURLUPART_URL, text, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK else { return nil }
    func part(_ what: CURLUPart) -> String? {
      var value: UnsafeMutablePointer<CChar>?
      guard curl_url_get(url, what, &value, 0) == CURLUE_OK, let value else { return nil }
      defer { curl_free(value) }
      return String(cString: value)
    }
    guard let scheme = part(CURLUPART_SCHEME), let host = part(CURLUPART_HOST), !host.isEmpty else { return nil }
    self.scheme = scheme.lowercased()
    self.host = host
    port = part(CURLUPART_PORT)
    path = part(CURLUPART_PATH) ?? "/"
    query = part(CURLUPART_QUERY)
    // A name and a password have no place here.
    guard part(CURLUPART_USER) == nil else { return nil }
  }
}
