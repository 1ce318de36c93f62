public import ClientCore
import JSON
public import MatrixModel
import Synchronization

/// Functions for programs that do one task and end.
extension MatrixClient {
  /// The state of the connection to the server.
  public var connectionState: ConnectionState { core.connection }

  /// Waits until a sync of this run has succeeded.
  /// - Throws: `network` if a sync fails first, `notSignedIn` if there is no session or it has ended, `cancelled`.
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
    await deviceIsPublished()
  }

  /// The number of attempts of a download, if the server asks the client to wait, does not know the token, or does not answer.
  private static let downloadTries = 5
  private static let waitLimitMilliseconds: Int64 = 30_000
  /// The time limit for one file.
  private static let downloadMilliseconds: Int64 = 3_600_000

  /// Downloads an uploaded file to a path. The file exists only when it is complete.
  /// - Parameter progress: is called on a thread of the transport, in order.
  public func download(
    _ uri: MediaURI, to path: String, progress: (@Sendable (TransferProgress) -> Void)? = nil
  ) async throws(ClientError) {
    // It goes to disk: as long as the server has room for it, so has the file.
    _ = try await fetch(uri, nil, to: .file(path: path), bytesLimit: .max, progress)
  }

  /// Returns the body of the response; empty if it went into a file.
  func fetch(
    _ uri: MediaURI, _ size: ThumbnailSize?, to destination: Exchange.Destination, bytesLimit: Int64,
    _ progress: (@Sendable (TransferProgress) -> Void)?
  ) async throws(ClientError) -> [UInt8] {
    for tries in 1...Self.downloadTries {
      let request =
        size.map { core.thumbnail(uri, width: $0.width, height: $0.height, crops: $0.crops) } ?? core.download(uri)
      var exchange = Exchange(request, to: baseURL)
      exchange.destination = destination
      exchange.answerBytesLimit = Int(clamping: bytesLimit)
      exchange.request.timeoutMilliseconds = Self.downloadMilliseconds
      let limited = LimitedProgress(bytesLimit, progress)
      exchange.progress = { limited.take($0) }
      do throws(ClientError) { return try Self.check(await transport.carry(exchange)) } catch {
        if limited.isExceeded { throw .tooLarge(limitBytes: bytesLimit) }
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
    throw .network
  }

  static func check(_ response: Response) throws(ClientError) -> [UInt8] {
    switch response {
    case .answer(200..<300, let body), .decrypted(let body): return body
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

/// Remembers whether a download exceeded its limit.
private final class LimitedProgress: Sendable {
  private let bytesLimit: Int64
  private let progress: (@Sendable (TransferProgress) -> Void)?
  private let mostBytes = Atomic<Int64>(0)

  init(_ bytesLimit: Int64, _ progress: (@Sendable (TransferProgress) -> Void)?) {
    self.bytesLimit = bytesLimit
    self.progress = progress
  }

  var isExceeded: Bool { mostBytes.load(ordering: .relaxed) > bytesLimit }

  func take(_ step: TransferProgress) {
    mostBytes.max(max(step.bytesToReceive, step.receivedBytes), ordering: .relaxed)
    progress?(step)
  }
}
