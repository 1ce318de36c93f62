public import ClientCore
import JSON
public import MatrixModel

/// For programs that do one thing and end.
extension MatrixClient {
  /// Whether the client talks with its server.
  public var connectionState: ConnectionState { core.connection }

  /// Waits until a sync of this run has succeeded.
  /// - Throws: `network` where one fails first, `notSignedIn` where there is no session, or none any more, `cancelled`.
  public func waitForSync() async throws(ClientError) {
    await wait { client in
      switch client.connection {
      case .running, .reconnecting, .offline: true
      case .idle, .connecting, .firstSync: client.sessionState != .signedIn
      }
    }
    guard !Task.isCancelled else { throw .cancelled }
    guard core.sessionState == .signedIn else { throw .notSignedIn }
    guard case .running = core.connection else { throw .network }
  }

  /// How often a download is asked for where the server wants one to wait, does not know the token or does not answer.
  private static let downloadTries = 5
  private static let waitLimitMilliseconds: Int64 = 30_000
  /// What one file may take.
  private static let downloadMilliseconds: Int64 = 3_600_000

  /// Writes an uploaded file to a path, as it comes in. There is a file only once it is whole.
  /// - Parameter progress: called on a thread of the transport's, in order.
  public func download(
    _ uri: MediaURI, to path: String, progress: (@Sendable (TransferProgress) -> Void)? = nil
  ) async throws(ClientError) {
    for tries in 1...Self.downloadTries {
      var exchange = Exchange(core.download(uri), to: baseURL)
      exchange.destination = .file(path: path)
      // It goes to disk: as long as the server has room for it, so has the file.
      exchange.answerBytesLimit = .max
      exchange.request.timeoutMilliseconds = Self.downloadMilliseconds
      exchange.progress = progress
      do throws(ClientError) { return try Self.check(await transport.carry(exchange)) } catch {
        guard tries < Self.downloadTries, !Task.isCancelled else { throw Task.isCancelled ? .cancelled : error }
        switch error {
        case .refused(401, .unknownToken, _, _): _ = try await whoAmI()
        case .refused(429, _, _, let wait):
          try? await Task.sleep(for: .milliseconds(min(max(wait ?? 0, 500), Self.waitLimitMilliseconds)))
        case .network: try? await Task.sleep(for: .milliseconds(500 * tries))
        default: throw error
        }
      }
    }
  }

  private static func check(_ response: Response) throws(ClientError) {
    switch response {
    case .answer(200..<300, _): return
    case .answer(let status, let body):
      let error = MatrixError(status: status, body: try? JSON.parse(body))
      throw .refused(
        status: status, code: error.code, message: ByteString(error.message),
        retryAfterMilliseconds: error.retryAfterMilliseconds)
    case .untrustedServer: throw .untrustedServer
    case .networkError, .blobIsGone: throw .network
    }
  }
}
