import CUV
import EventLoop
import Glibc
import Telemetry

extension HTTPConnection {
  // MARK: The request

  func begin(_ head: RequestHead, _ body: [UInt8], isComplete: Bool) {
    exchangeCount += 1
    let number = exchangeCount
    let route = core.router.resolve(head.method, head.headers.pathBytes)
    let peer = core.peer(of: socketPeer, head.headers)
    let id = RequestID.next()
    var exchange = Exchange(
      number: number, id: id, method: head.method, routePattern: route.pattern, peer: peer,
      started: EventLoop.nowNanoseconds, endsOnShutdown: route.endsOnShutdown, isHTTP10: head.isHTTP10,
      keepsAlive: head.keepsAlive && !state.isDraining, announcedLength: head.announcedLength,
      owesContinue: head.expectsContinue && !isComplete && body.isEmpty, isBodyComplete: isComplete,
      requestBodyBytes: Int64(body.count), webSocketKey: WebSocketHandshake.key(of: head))
    let requestBody = requestBody(of: head, body, isComplete: isComplete, limit: route.bodyLimit, &exchange)
    self.exchange = exchange
    let request = Request(
      method: head.method, headers: head.headers, route: route, peer: peer, id: id, body: requestBody)
    let task = Self.launch(route.answer, request, number, on: self)
    // The handler may have run to its end already.
    if self.exchange?.number == number {
      self.exchange?.task = task
      if route.endsOnShutdown && state.isShuttingDown { task.cancel() }
    }
  }

  private func requestBody(
    of head: RequestHead, _ body: [UInt8], isComplete: Bool, limit: Int, _ exchange: inout Exchange
  ) -> RequestBody {
    if let announced = head.announcedLength, announced > Int64(limit) {
      return RequestBody(source: .failed(.bodyTooLarge(limit: limit)), announcedLength: announced)
    }
    if isComplete {
      guard body.count <= limit else {
        return RequestBody(source: .failed(.bodyTooLarge(limit: limit)), announcedLength: nil)
      }
      return body.isEmpty ? .empty : RequestBody(source: .bytes(body), announcedLength: head.announcedLength)
    }
    let pipe = BodyPipe(loop: loop, limit: limit, lowWaterBytes: core.configuration.bodyLowWaterBytes) { notice in
      self.assumeIsolated { $0.pipeSays(notice) }
    }
    if !body.isEmpty { pipe.assumeIsolated { $0.append(body) } }
    exchange.pipe = pipe
    return RequestBody(source: .pipe(pipe), announcedLength: head.announcedLength)
  }

  /// Runs the handler inline up to its first suspension; afterwards on the same loop.
  private nonisolated static func launch(
    _ handler: @escaping Router.Answer, _ request: Request, _ number: UInt64, on connection: HTTPConnection
  ) -> Task<Void, Never> {
    Task.immediate(executorPreference: connection.loop) {
      await answer(await handler(request), number, on: connection)
    }
  }

  private nonisolated static func answer(_ response: Response, _ number: UInt64, on connection: HTTPConnection) async {
    let rest: Rest
    if let sent = connection.sendIfOnLoop(response, number) {
      rest = sent
    } else {
      rest = await connection.send(response, number)
    }
    if case .nothing = rest { return }
    await finish(rest, number, on: connection)
  }

  // Not inlined: most responses end before it, and it has a frame of more than a kilobyte.
  @inline(never)
  private nonisolated static func finish(_ rest: Rest, _ number: UInt64, on connection: HTTPConnection) async {
    switch rest {
    case .nothing:
      return
    case .file(let file, let range):
      await sendFile(file, range, number, on: connection)
    case .stream(let body):
      do {
        try await body(BodyWriter(connection: connection, exchange: number))
        await connection.endBody(number, isWhole: true)
      } catch {
        await connection.endBody(number, isWhole: false)
      }
    case .webSocket(let session, let body):
      await body(WebSocket(session: session))
      await session.finish()
    }
  }

  /// `send` without the cost of an actor call, where the handler ended on the loop as it began; else nil.
  private nonisolated func sendIfOnLoop(_ response: Response, _ number: UInt64) -> Rest? {
    loop.isCurrent ? assumeIsolated { $0.send(response, number) } : nil
  }

  private nonisolated static func sendFile(
    _ file: OpenFile, _ range: Range<Int64>, _ number: UInt64, on connection: HTTPConnection
  ) async {
    var offset = range.lowerBound
    do {
      while offset < range.upperBound {
        let (start, count) = (offset, Int(min(64 << 10, range.upperBound - offset)))
        let chunk = try await connection.state.core.pool.run { file.read(at: start, count: count) }
        // A file that got shorter cannot keep what its length promised.
        guard let chunk, !chunk.isEmpty else { throw HTTPError.wrongBodyLength }
        offset += Int64(chunk.count)
        try await connection.writeBody(chunk, exchange: number)
      }
      await connection.endBody(number, isWhole: true)
    } catch {
      await connection.endBody(number, isWhole: false)
    }
  }

  // MARK: The body

  func bodyArrived(_ bytes: [UInt8]) {
    exchange?.requestBodyBytes += Int64(bytes.count)
    guard let pipe = exchange?.pipe else { return }
    pipe.assumeIsolated { $0.append(bytes) }
  }

  func bodyEnded() {
    exchange?.isBodyComplete = true
    guard let pipe = exchange?.pipe else { return }
    pipe.assumeIsolated { $0.end() }
  }

  func failBody(_ error: HTTPError) {
    guard let pipe = exchange?.pipe else { return }
    pipe.assumeIsolated { $0.fail(error) }
  }

  private func pipeSays(_ notice: BodyPipe.Notice) {
    switch notice {
    case .firstRead:
      guard exchange?.owesContinue == true, exchange?.progress == .waiting else { return }
      exchange?.owesContinue = false
      write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
    case .drained:
      updateReading()
    case .waitingChanged:
      lastReceived = state.now
      updateDeadline()
    }
  }

  // MARK: The end

  /// Ends the exchange once its response has left and its request has come; false while either is missing.
  ///
  /// - Returns: whether the logic is to go on with the next request.
  func finishExchange() -> Bool {
    guard let exchange, exchange.progress == .written, output.isEmpty, inFlightBytes == 0 else { return false }
    if case .http = mode {} else { return false }
    guard exchange.keepsAlive else {
      report()
      self.exchange = nil
      linger()
      return false
    }
    guard exchange.isBodyComplete else { return false }
    report()
    self.exchange = nil
    phaseStarted = state.now
    return true
  }

  func report() {
    guard let exchange, let finished = core.configuration.requestFinished else { return }
    finished(
      FinishedRequest(
        id: exchange.id, method: exchange.method, routePattern: exchange.routePattern, status: exchange.status ?? 499,
        duration: .nanoseconds(Int64(clamping: EventLoop.nowNanoseconds &- exchange.started)),
        requestBodyBytes: exchange.requestBodyBytes, responseBodyBytes: exchange.responseBodyBytes, peer: exchange.peer))
  }

  /// Ends our side and waits a little for the client to end its own, so that it reads the response before a reset.
  private func linger() {
    logic.stop()
    if hasPeerEnded {
      close()
      return
    }
    mode = .lingering
    phaseStarted = state.now
    var descriptor: uv_os_fd_t = -1
    if uv_fileno(UnsafeMutableRawPointer(tcp).assumingMemoryBound(to: uv_handle_t.self), &descriptor) == 0 {
      shutdown(descriptor, Int32(SHUT_WR))
    }
    updateReading()
    updateDeadline()
  }

  /// Answers what is no request, and closes.
  func refuse(_ status: Status) {
    logic.stop()
    let response = core.configuration.refusal(status)
    exchangeCount += 1
    exchange = Exchange(
      number: exchangeCount, id: RequestID.next(), method: .get, routePattern: "", peer: socketPeer,
      started: EventLoop.nowNanoseconds, endsOnShutdown: false, isHTTP10: false, keepsAlive: false, announcedLength: 0,
      owesContinue: false, isBodyComplete: true, requestBodyBytes: 0)
    _ = send(response, exchangeCount)
  }
}
