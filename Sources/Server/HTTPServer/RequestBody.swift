/// The body of a request, in pieces as they arrive. It is read once.
///
/// Not reading it stops the client: at `bodyHighWaterBytes` unread the socket is paused. The `100 Continue` some clients
/// wait for is sent with the first read.
package struct RequestBody: AsyncSequence, Sendable {
  package typealias Element = [UInt8]
  package typealias Failure = any Error

  enum Source: Sendable {
    case empty
    case bytes([UInt8])
    case failed(HTTPError)
    case pipe(BodyPipe)
  }

  let source: Source
  /// The length the client announced in bytes; nil when it sends chunks.
  package let announcedLength: Int64?

  package static let empty = RequestBody(source: .empty, announcedLength: 0)

  /// A body at hand.
  package init(bytes: [UInt8]) { self.init(source: .bytes(bytes), announcedLength: Int64(bytes.count)) }

  init(source: Source, announcedLength: Int64?) {
    self.source = source
    self.announcedLength = announcedLength
  }

  package struct AsyncIterator: AsyncIteratorProtocol {
    var source: Source

    /// - Throws: `HTTPError`: `.bodyTooLarge`, `.bodyTimeout`, `.malformedBody`, `.clientGone`; `CancellationError`.
    package mutating func next() async throws -> [UInt8]? {
      switch source {
      case .empty:
        return nil
      case .bytes(let bytes):
        source = .empty
        return bytes
      case .failed(let error):
        throw error
      case .pipe(let pipe):
        return try await pipe.next()
      }
    }
  }

  package func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }

  /// The whole body.
  ///
  /// - Throws: `HTTPError.bodyTooLarge` as soon as more than `limit` bytes were announced or have come; else as `next()`.
  package func collect(upTo limit: Int) async throws -> [UInt8] {
    if let announcedLength, announcedLength > Int64(limit) { throw HTTPError.bodyTooLarge(limit: limit) }
    var iterator = makeAsyncIterator()
    guard var whole = try await iterator.next() else { return [] }
    if let announcedLength, whole.count < announcedLength { whole.reserveCapacity(Int(announcedLength)) }
    while whole.count <= limit, let chunk = try await iterator.next() { whole.append(contentsOf: chunk) }
    guard whole.count <= limit else { throw HTTPError.bodyTooLarge(limit: limit) }
    return whole
  }
}
