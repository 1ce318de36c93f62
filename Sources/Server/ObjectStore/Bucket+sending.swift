import Outbound
import ServerCore

// How a request is signed, sent, tried again, and what answers mean.
extension Bucket {
  /// Milliseconds between the tries of one request.
  private static let pauses = [100, 400, 1_600]

  /// The answer of a request that succeeded. Throws `BucketError`, `CancellationError`.
  func send(_ request: BucketRequest) async throws -> IncomingResponse {
    var attempt = 0
    while true {
      guard circuit.withLock({ $0.permits(.now) }) else {
        throw BucketError.unavailable(reason: "it has failed several times; it is asked again in a moment")
      }
      do {
        return try await sendOnce(request)
      } catch let error as BucketError {
        metrics.count(error, in: request.operation)
        guard case .unavailable = error, attempt + 1 < request.tries, attempt < Self.pauses.count else { throw error }
        try await Task.sleep(for: .milliseconds(Self.pauses[attempt]))
        attempt += 1
      }
    }
  }

  private func sendOnce(_ request: BucketRequest) async throws -> IncomingResponse {
    let began = ContinuousClock.now
    do {
      let answer = try await http.send(signed(request))
      metrics.observe(request.operation, began.duration(to: .now))
      try check(answer, request)
      circuit.withLock { $0.succeeded() }
      return answer
    } catch OutboundError.cancelled {
      throw CancellationError()
    } catch let error as OutboundError {
      circuit.withLock { $0.failed(.now) }
      throw BucketError(error)
    } catch let error as BucketError {
      circuit.withLock { circuit in
        if case .unavailable = error { circuit.failed(.now) } else { circuit.succeeded() }
      }
      throw error
    }
  }

  private func signed(_ request: BucketRequest) -> OutgoingRequest {
    let path = configuration.path(of: request.key)
    var signature = RequestSignature(method: request.method, host: configuration.host, path: path, time: clock.now())
    signature.query = request.query
    signature.headers = request.headers
    signature.payload =
      request.payload ?? (request.range.isEmpty ? RequestSignature.emptyPayload : RequestSignature.unsignedPayload)
    let headers = signature.signed(
      accessKey: configuration.accessKey, secretKey: configuration.secretKey.reveal(), region: configuration.region)
    var outgoing = OutgoingRequest(
      request.method, url: configuration.url(path, signature.queryText), headers: headers, timeout: request.timeout,
      responseBytesLimit: request.answerBytesLimit, destinations: .any)
    outgoing.acceptsCompression = false
    switch request.body {
    case .bytes(let bytes): outgoing.body = Array(bytes[Int(request.range.lowerBound)..<Int(request.range.upperBound)])
    case .file(let path, _): outgoing.file = OutgoingFile(path: path, range: request.range)
    }
    return outgoing
  }

  /// Source: Amazon S3 API Reference, "Error responses".
  private func check(_ answer: IncomingResponse, _ request: BucketRequest) throws(BucketError) {
    guard !(200..<300).contains(answer.status) else { return }
    let code = BucketXML(answer.body)?.text("Code") ?? ""
    switch (answer.status, code) {
    case (_, "NoSuchBucket"): throw .noBucket
    case (404, _): throw request.key == nil ? .noBucket : .noObject
    case (_, "RequestTimeTooSkewed"), (_, "RequestExpired"): throw .clock(bucket: answer.header("date"))
    case (_, "SignatureDoesNotMatch"), (_, "InvalidAccessKeyId"), (401, _), (_, "InvalidClientTokenId"), (_, "AuthFailure"):
      throw .wrongKey
    case (403, _): throw .denied
    case (408, _), (429, _), (500..., _), (_, "SlowDown"), (_, "RequestTimeout"):
      throw .unavailable(reason: "it answered \(answer.status)\(code.isEmpty ? "" : " \(code)")")
    default: throw .refused(status: answer.status, code: code)
    }
  }
}
