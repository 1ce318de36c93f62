/// The protocol of one connection without its socket: bytes in, events out. It reads one request at a time; what arrives
/// behind a complete request waits until `responseIsDone`.
struct ConnectionLogic {
  enum Event {
    case request(RequestHead)
    case body([UInt8])
    case bodyEnd
    /// The body's framing broke after its request was given out. Nothing more can be read.
    case bodyMalformed
    /// No request: answer with this status and close.
    case refuse(Status)
  }

  enum Phase: Equatable {
    /// Between requests, not a byte of the next one seen.
    case idle
    /// Within a request's head.
    case head
    /// Within a request's body.
    case body
    /// The request is complete, its response is not.
    case answering
    /// Nothing more is read.
    case over
  }

  private(set) var phase = Phase.idle
  private let parser: RequestParser
  private let pipelinedBytesLimit: Int
  private var pending: [UInt8] = []

  init(headerBytesLimit: Int, headerCountLimit: Int, pipelinedBytesLimit: Int) {
    parser = RequestParser(headerBytesLimit: headerBytesLimit, headerCountLimit: headerCountLimit)
    self.pipelinedBytesLimit = pipelinedBytesLimit
  }

  /// Whether the socket may be read on.
  var wantsBytes: Bool { pending.count < pipelinedBytesLimit }

  mutating func receive(_ bytes: UnsafeRawBufferPointer, into events: inout [Event]) {
    switch phase {
    case .over: return
    case .answering: pending.append(contentsOf: bytes)
    case .idle, .head, .body: parse(bytes, into: &events)
    }
  }

  /// The response has been sent: goes on with the next request.
  ///
  /// - Precondition: the request is complete (`.answering`).
  mutating func responseIsDone(into events: inout [Event]) {
    precondition(phase == .answering, "a response ends after its request")
    phase = .idle
    parser.resume()
    guard !pending.isEmpty else { return }
    let bytes = pending
    pending = []
    bytes.withUnsafeBytes { parse($0, into: &events) }
  }

  /// Reads no further requests.
  mutating func stop() {
    phase = .over
    pending = []
  }

  /// What arrived behind the current request, for the protocol that takes over. Stops this one.
  mutating func handOver() -> [UInt8] {
    defer { stop() }
    return pending
  }

  private mutating func parse(_ bytes: UnsafeRawBufferPointer, into events: inout [Event]) {
    guard !bytes.isEmpty else { return }
    if phase == .idle { phase = .head }
    let (outcome, consumed) = parser.execute(bytes)
    if case .failed(let status) = outcome {
      events.append(phase == .body ? .bodyMalformed : .refuse(status))
      stop()
      return
    }
    if let head = parser.takeHead() {
      events.append(.request(head))
      phase = .body
    }
    let body = parser.takeBody()
    if !body.isEmpty { events.append(.body(body)) }
    if outcome == .complete {
      phase = .answering
      events.append(.bodyEnd)
      pending.append(contentsOf: bytes[consumed...])
    }
  }
}
