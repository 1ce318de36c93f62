public import ClientCore

/// Carries requests to servers. Ends early with `networkError` when the task is cancelled, and so does the connection.
public protocol Transport: Sendable {
  func carry(_ exchange: Exchange) async -> Response
}

/// One request and what becomes of its answer.
public struct Exchange: Sendable {
  public enum Body: Sendable {
    /// The request's own.
    case own
    /// Read while it is sent, never whole.
    case file(path: String)
  }

  public enum Destination: Sendable {
    case memory
    /// Written while it comes in. There is a file only once it is whole, and only where the status is 2xx; the answer's body is
    /// empty then.
    case file(path: String)
  }

  public var request: HTTPRequest
  /// `https://host[:port][/path]`, without a slash at the end.
  public var server: String
  public var body = Body.own
  public var destination = Destination.memory
  /// An answer with more bytes is as good as none.
  public var answerBytesLimit = 1 << 28
  /// Redirects that are followed, to `https` only; 0 hands them back as answers. Not for requests with a token.
  public var redirectLimit = 0
  /// Called on a thread of the transport's, in order, at the end with the totals.
  public var progress: (@Sendable (TransferProgress) -> Void)?

  public init(_ request: HTTPRequest, to server: String) {
    self.request = request
    self.server = server
  }
}

/// How far a transfer is: bytes of the body that is sent and of the answer that comes in. Totals are 0 while they are not known.
public struct TransferProgress: Sendable, Hashable {
  public var sentBytes: Int64 = 0
  public var bytesToSend: Int64 = 0
  public var receivedBytes: Int64 = 0
  public var bytesToReceive: Int64 = 0
}

/// How a transport reaches servers and which it trusts.
public struct TransportSettings: Sendable {
  /// `http://host:port`, `socks5h://host:port`; nil for the one of the environment (`https_proxy` …), empty for none.
  public var proxy: String?
  /// Path of a PEM file with the certificates that are trusted instead of the system's: roots of one's own, or the certificate of the
  /// one server there is.
  public var rootCertificates: String?
  /// Base64 of the SHA-256 of public keys (SubjectPublicKeyInfo), one of which the server's certificate has to have; empty for any.
  public var pinnedPublicKeys: [String] = []
  public var userAgent = "Martlet"
  /// `host:port:address:port`: another address for a server, as it is asked for under its name.
  var connectTo: [String] = []

  public init() {}
}

/// What `MatrixClient` and `Homeserver` use where they are not told otherwise: libcurl, on Apple platforms `URLSession`.
public func standardTransport(_ settings: TransportSettings = TransportSettings()) -> any Transport {
  #if canImport(Darwin)
    URLSessionTransport(settings)
  #else
    CurlTransport(settings)
  #endif
}
