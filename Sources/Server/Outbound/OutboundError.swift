/// Why something could not be fetched or sent.
package enum OutboundError: Error, Sendable, Equatable {
  /// The URL is not http or https, has a user name or password in it, or bytes that no URL has.
  case invalidURL
  /// A method, header or address that would break out of its place in the protocol.
  case invalidRequest
  /// Every address of the host is one that `DestinationPolicy.publicAddresses` or the deny list keeps from being reached.
  case forbiddenAddress
  case hostNotFound
  case cannotConnect
  /// The certificate is not trusted or not for this host, or there is no common version of TLS.
  case untrustedServer
  /// The deadline of the whole request has passed.
  case timedOut
  case tooManyRedirects
  /// As many requests are under way and waiting as the configuration allows.
  case tooBusy
  /// The connection ended early or what came was not the protocol.
  case brokenAnswer
  /// The other side understood and said no, with its status: mail only.
  case refused(status: Int)
  case cancelled
  case shutDown

  /// Whether the same request may succeed later.
  package var isTransient: Bool {
    switch self {
    case .invalidURL, .invalidRequest, .forbiddenAddress, .untrustedServer, .tooManyRedirects, .cancelled: false
    case .hostNotFound, .cannotConnect, .timedOut, .tooBusy, .brokenAnswer, .shutDown: true
    // RFC 5321 §4.2.1: 4yz is transient, 5yz permanent.
    case .refused(let status): status < 500
    }
  }
}
