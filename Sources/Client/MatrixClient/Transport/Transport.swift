public import ClientCore

/// Sends requests to servers. If the task is cancelled, the request ends with `networkError`, and the connection is closed.
public protocol Transport: Sendable {
  func carry(_ exchange: Exchange) async -> Response
}

/// A request, and the destination of its response.
public struct Exchange: Sendable {
  public enum Body: Sendable {
    /// The body of the request.
    case own
    /// A file, which is read while it is sent and never completely in memory.
    case file(path: String)
    /// A file that is encrypted while it is read, into as many bytes. Never send it as it is.
    case encryptedFile(path: String, FileEncrypter)
  }

  public enum Destination: Sendable {
    case memory
    /// A file, which is written during the download. It exists only when it is complete and the status is 2xx. The body of the response is
    /// then empty.
    case file(path: String)
  }

  public var request: HTTPRequest
  /// The base URL, `https://host[:port][/path]`, without a slash at the end.
  public var server: String
  public var body = Body.own
  public var destination = Destination.memory
  /// The limit of the response in bytes. A larger response counts as a network error.
  public var answerBytesLimit = 1 << 28
  /// The number of redirects to follow, to `https` only. 0 returns them as responses. Do not use it for requests with a token.
  public var redirectLimit = 0
  /// Is called on a thread of the transport, in order, and finally with the totals.
  public var progress: (@Sendable (TransferProgress) -> Void)?

  public init(_ request: HTTPRequest, to server: String) {
    self.request = request
    self.server = server
  }
}

/// The progress of a transfer: bytes of the request's body and of the response. A total is 0 while it is unknown.
public struct TransferProgress: Sendable, Hashable {
  public var sentBytes: Int64 = 0
  public var bytesToSend: Int64 = 0
  public var receivedBytes: Int64 = 0
  public var bytesToReceive: Int64 = 0
}

/// The settings of a transport: how it reaches servers, and which servers it trusts.
public struct TransportSettings: Sendable {
  /// The proxy, `http://host:port` or `socks5h://host:port`; nil for that of the environment (`https_proxy` …), empty for none.
  public var proxy: String?
  /// The path of a PEM file with certificates to trust instead of the system's: the app's own roots, or the certificate of a single
  /// server.
  public var rootCertificates: String?
  /// The pinned keys: Base64 of the SHA-256 of public keys (SubjectPublicKeyInfo). The server's certificate must have one of them. Empty for any.
  public var pinnedPublicKeys: [String] = []
  public var userAgent = "Martlet"
  /// Other addresses for servers, as `host:port:address:port`. Requests still use the server's name.
  var connectTo: [String] = []

  public init() {}
}

/// Returns the default transport of `MatrixClient` and `Homeserver`: libcurl, or `URLSession` on Apple platforms.
public func standardTransport(_ settings: TransportSettings = TransportSettings()) -> any Transport {
  #if canImport(Darwin)
    URLSessionTransport(settings)
  #else
    CurlTransport(settings)
  #endif
}
