// On Linux only for its tests: `swift test -Xswiftc -DMARTLET_URLSESSION`.
#if canImport(Darwin) || MARTLET_URLSESSION
  public import ClientCore
  import Foundation
  import JSON
  import MatrixModel
  import Synchronization

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// A transport with the platform's HTTP client, `URLSession`.
  ///
  /// `TransportSettings.rootCertificates`, `pinnedPublicKeys` and `proxy` have an effect on Apple platforms only.
  public final class URLSessionTransport: Transport {
    private let session: URLSession
    private let delegate: SessionDelegate

    public init(_ settings: TransportSettings = TransportSettings()) {
      let configuration = URLSessionConfiguration.ephemeral
      configuration.httpAdditionalHeaders = ["User-Agent": settings.userAgent]
      configuration.httpCookieStorage = nil
      configuration.urlCache = nil
      configuration.timeoutIntervalForRequest = 600
      #if canImport(Darwin)
        if let proxy = settings.proxy { configuration.connectionProxyDictionary = ProxySettings.dictionary(proxy) }
      #endif
      delegate = SessionDelegate(settings)
      session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    deinit { session.invalidateAndCancel() }

    public func carry(_ exchange: Exchange) async -> Response {
      guard let request = URLRequest(exchange) else { return .networkError }
      let task: URLSessionTask
      switch exchange.body {
      case .own: task = session.dataTask(with: request)
      case .file(let path):
        guard FileManager.default.isReadableFile(atPath: path) else { return .blobIsGone }
        task = session.uploadTask(with: request, fromFile: URL(fileURLWithPath: path))
      case .encryptedFile(let path, let encrypter):
        // `URLSession` reads a file by itself: it gets one of ciphertext.
        guard let file = TemporaryFile(encrypting: path, by: encrypter) else { return .blobIsGone }
        defer { file.remove() }
        return await carry(session.uploadTask(with: request, fromFile: URL(fileURLWithPath: file.path)), exchange)
      }
      return await carry(task, exchange)
    }

    private func carry(_ task: URLSessionTask, _ exchange: Exchange) async -> Response {
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          delegate.begin(task.taskIdentifier, exchange, continuation)
          task.resume()
          if Task.isCancelled { task.cancel() }
        }
      } onCancel: {
        task.cancel()
      }
    }
  }

  extension URLRequest {
    fileprivate init?(_ exchange: Exchange) {
      guard let url = URL(string: exchange.server + exchange.request.target) else { return nil }
      self.init(url: url)
      httpMethod = exchange.request.method.name
      httpBody = exchange.request.body.map { Data($0) }
      timeoutInterval = Double(exchange.request.timeoutMilliseconds) / 1_000
      if let type = exchange.request.contentType { setValue(type, forHTTPHeaderField: "Content-Type") }
      if let token = exchange.request.accessToken {
        setValue("Bearer " + token.string, forHTTPHeaderField: "Authorization")
      }
    }
  }

  /// Gathers the answers. `URLSession` calls it on a queue of its own, one call at a time.
  private final class SessionDelegate: NSObject, URLSessionDataDelegate, Sendable {
    struct Running: @unchecked Sendable {
      // Used under the lock only.
      let exchange: Exchange
      let continuation: CheckedContinuation<Response, Never>
      var received: [UInt8] = []
      var sink: FileSink?
      var redirects = 0
      var isUntrusted = false
      /// Too long, or its file cannot be written; the end may come as if it were whole.
      var isBroken = false
      var progress = TransferProgress()
    }

    private let running = Mutex<[Int: Running]>([:])
    private let settings: TransportSettings

    init(_ settings: TransportSettings) { self.settings = settings }

    func begin(_ id: Int, _ exchange: Exchange, _ continuation: CheckedContinuation<Response, Never>) {
      running.withLock { $0[id] = Running(exchange: exchange, continuation: continuation) }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      let isSuccess = dataTask.response.map { (200..<300).contains(($0 as? HTTPURLResponse)?.statusCode ?? 0) } ?? false
      let isTaken = running.withLock { running in
        guard var state = running[dataTask.taskIdentifier] else { return false }
        defer { running[dataTask.taskIdentifier] = state }
        state.progress.receivedBytes += Int64(data.count)
        state.progress.bytesToReceive = max(0, dataTask.countOfBytesExpectedToReceive)
        state.isBroken =
          max(state.progress.receivedBytes, state.progress.bytesToReceive) > Int64(state.exchange.answerBytesLimit)
          || !state.take(data, isSuccess)
        // Who set the limit hears how much it would have been.
        state.exchange.progress?(state.progress)
        return !state.isBroken
      }
      if !isTaken { dataTask.cancel() }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
      totalBytesExpectedToSend: Int64
    ) {
      running.withLock { running in
        guard var state = running[task.taskIdentifier] else { return }
        state.progress.sentBytes = totalBytesSent
        state.progress.bytesToSend = totalBytesExpectedToSend
        running[task.taskIdentifier] = state
        state.exchange.progress?(state.progress)
      }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      let isAllowed = running.withLock { running in
        guard let state = running[task.taskIdentifier], request.url?.scheme == "https",
          state.exchange.request.accessToken == nil, state.redirects < state.exchange.redirectLimit
        else { return false }
        running[task.taskIdentifier]?.redirects += 1
        return true
      }
      completionHandler(isAllowed ? request : nil)
    }

    #if canImport(Darwin)
      func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
      ) {
        guard let trust = challenge.protectionSpace.serverTrust else { return completionHandler(.performDefaultHandling, nil) }
        guard ServerTrust.isTrusted(trust, settings) else {
          running.withLock { $0[task.taskIdentifier]?.isUntrusted = true }
          return completionHandler(.cancelAuthenticationChallenge, nil)
        }
        completionHandler(.useCredential, URLCredential(trust: trust))
      }
    #endif

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      guard var state = running.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
      let status = (task.response as? HTTPURLResponse)?.statusCode
      guard error == nil, let status, !state.isBroken, state.take(Data(), (200..<300).contains(status)),
        state.sink?.finish() ?? true
      else {
        return state.continuation.resume(returning: state.isUntrusted ? .untrustedServer : .networkError)
      }
      state.continuation.resume(returning: .answer(status: status, body: state.received))
    }
  }

  extension SessionDelegate.Running {
    /// Whether the bytes have found their place.
    fileprivate mutating func take(_ data: Data, _ isSuccess: Bool) -> Bool {
      guard case .file(let path) = exchange.destination, isSuccess else {
        received += data
        return true
      }
      if sink == nil { sink = FileSink(path: path) }
      return data.withUnsafeBytes { sink?.append($0) ?? false }
    }
  }

  extension Endpoint.Method {
    fileprivate var name: String {
      switch self {
      case .get: "GET"
      case .put: "PUT"
      case .post: "POST"
      case .delete: "DELETE"
      }
    }
  }
#endif
