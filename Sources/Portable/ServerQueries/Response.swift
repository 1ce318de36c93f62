/// How a request ended.
public enum Response: Sendable {
  /// Any answer of the server, its body whole.
  case answer(status: Int, body: [UInt8])
  /// No answer: no connection, a timeout, a broken transfer. Worth another try.
  case networkError
  /// The server's certificate is not one that the host trusts.
  case untrustedServer
  /// The blob of an upload is no longer there: no try will help.
  case blobIsGone
}
