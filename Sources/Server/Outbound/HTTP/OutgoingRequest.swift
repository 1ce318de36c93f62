/// A request to another server.
package struct OutgoingRequest: Sendable {
  package var method: String
  /// An http or https URL without user name and password, in ASCII.
  package var url: String
  package var headers: [(name: String, value: String)]
  package var body: [UInt8]
  /// Sent in place of `body`.
  package var file: OutgoingFile?
  /// For everything together: finding the host, redirects, the last byte of the answer. More than zero.
  package var timeout: Duration
  /// Bytes of the body, decompressed, that are kept; `IncomingResponse.isTruncated` tells where there were more.
  package var responseBytesLimit: Int
  /// Redirects that are followed; with none a redirect is the answer.
  package var redirectLimit: Int
  package var destinations: DestinationPolicy
  /// Whether the answer may come compressed.
  package var acceptsCompression = true

  package init(
    _ method: String = "GET", url: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
    timeout: Duration, responseBytesLimit: Int, redirectLimit: Int = 0, destinations: DestinationPolicy
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.timeout = timeout
    self.responseBytesLimit = responseBytesLimit
    self.redirectLimit = redirectLimit
    self.destinations = destinations
  }
}

/// A part of a file that is the body of a request, read while it is sent.
package struct OutgoingFile: Sendable {
  let path: String
  let range: Range<Int64>

  /// - Parameters:
  ///   - path: a file that stays as it is until the request has ended.
  ///   - range: bytes that it has; else the request ends with `OutboundError.invalidRequest` or `.brokenAnswer`.
  package init(path: String, range: Range<Int64>) {
    (self.path, self.range) = (path, range)
  }
}

/// Where a request may go.
package enum DestinationPolicy: Sendable {
  /// Anywhere: for URLs that the operator has configured.
  case any
  /// Only to addresses of the public Internet (`AddressPolicy`): for URLs that users name. Each address is looked at when
  /// it is connected to, redirects included, so that no name can change its mind in between.
  case publicAddresses
}
