/// How a request ended.
public enum Response: Sendable {
  /// Any answer of the server, its body whole.
  case answer(status: Int, body: [UInt8])
  /// An answer with status 200 in which the host has put clear text in the place of encrypted events. Only here its marks are believed: a server could
  /// write them, too.
  case decrypted([UInt8])
  /// No answer: no connection, a timeout, a broken transfer. Worth another try.
  case networkError
  /// The server's certificate is not one that the host trusts.
  case untrustedServer
  /// The blob of an upload is no longer there: no try will help.
  case blobIsGone
}
