import EventLoop

/// Body chunks between a connection, which fills it, and a handler, which empties it; both on one loop.
actor BodyPipe {
  /// What the connection hears of the reader.
  enum Notice: Sendable {
    /// A reader waits for the first time: a client that expects `100 Continue` gets it now.
    case firstRead
    /// The unread bytes fell to the low-water mark.
    case drained
    /// A reader began or ceased to wait, which starts and stops the idle deadline.
    case waitingChanged
  }

  private enum State {
    case open
    case ended
    case failed(HTTPError)
  }

  nonisolated let loop: EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private(set) var bufferedBytes = 0
  private(set) var receivedBytes: Int64 = 0
  var isReaderWaiting: Bool { waiter != nil }
  private let lowWaterBytes: Int
  private let limit: Int
  private var chunks: ContiguousArray<[UInt8]> = []
  private var firstChunk = 0
  private var state = State.open
  private var waiter: CheckedContinuation<[UInt8]?, any Error>?
  private var wasRead = false
  private var isAboveLowWater = false
  private var notify: (@Sendable (Notice) -> Void)?

  /// - Parameter limit: bytes the body may have in all.
  init(loop: EventLoop, limit: Int, lowWaterBytes: Int, notify: @escaping @Sendable (Notice) -> Void) {
    self.loop = loop
    self.limit = limit
    self.lowWaterBytes = lowWaterBytes
    self.notify = notify
  }

  // MARK: The connection's side

  func append(_ chunk: [UInt8]) {
    guard case .open = state else { return }
    receivedBytes += Int64(chunk.count)
    guard receivedBytes <= Int64(limit) else {
      fail(.bodyTooLarge(limit: limit))
      return
    }
    if let waiter {
      self.waiter = nil
      waiter.resume(returning: chunk)
      notify?(.waitingChanged)
      return
    }
    chunks.append(chunk)
    bufferedBytes += chunk.count
    if bufferedBytes > lowWaterBytes { isAboveLowWater = true }
  }

  /// The body is complete.
  func end() {
    guard case .open = state else { return }
    state = .ended
    finish()
    resumeWaiter(.success(nil))
  }

  /// Nothing more will come; the reader gets `error` after what is buffered, or at once when the error forbids that.
  func fail(_ error: HTTPError) {
    guard case .open = state else { return }
    state = .failed(error)
    chunks = []
    bufferedBytes = 0
    finish()
    resumeWaiter(.failure(error))
  }

  // MARK: The handler's side

  func next() async throws -> [UInt8]? {
    if firstChunk < chunks.count { return takeChunk() }
    switch state {
    case .ended: return nil
    case .failed(let error): throw error
    case .open: break
    }
    guard waiter == nil else { throw HTTPError.bodyAlreadyRead }
    try Task.checkCancellation()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        waiter = continuation
        if !wasRead {
          wasRead = true
          notify?(.firstRead)
        }
        notify?(.waitingChanged)
      }
    } onCancel: {
      loop.submit { self.assumeIsolated { $0.resumeWaiter(.failure(CancellationError())) } }
    }
  }

  private func takeChunk() -> [UInt8] {
    let chunk = chunks[firstChunk]
    chunks[firstChunk] = []
    firstChunk += 1
    bufferedBytes -= chunk.count
    if firstChunk == chunks.count {
      chunks.removeAll(keepingCapacity: true)
      firstChunk = 0
    }
    if isAboveLowWater && bufferedBytes <= lowWaterBytes {
      isAboveLowWater = false
      notify?(.drained)
    }
    return chunk
  }

  private func resumeWaiter(_ result: Result<[UInt8]?, any Error>) {
    guard let waiter else { return }
    self.waiter = nil
    waiter.resume(with: result)
    notify?(.waitingChanged)
  }

  /// Lets go of the connection.
  private func finish() {
    guard waiter == nil else { return }
    notify = nil
  }
}
