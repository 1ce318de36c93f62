import EventLoop
import JSON
import Synchronization

/// Reads what clients say, so that it is a session's turn with what is read already: sessions share one actor, and a long offer takes some milliseconds.
final class MessageReader: Sendable {
  /// Longer texts are read on threads of their own; the rest where it arrives.
  static let shortBytes = 8 << 10

  private let offers: Mutex<RateTable<ByteString>>
  private let threads: BlockingPool

  init(_ rate: CallLimits.Rate = CallLimits.offerBytesRate) throws {
    offers = Mutex(RateTable(rate))
    threads = try BlockingPool(threads: 2, queueLimit: CallLimits.connections, name: "offers")
  }

  func shutdown() async { await threads.shutdown() }

  /// - Parameters:
  ///   - holder: of the token; their offers have a rate together.
  ///   - now: monotonic milliseconds.
  /// - Throws: that too much waits to be read, or the server stops: who comes back says it again.
  func read(_ text: String, of holder: ByteString, now: Int64) async throws -> Result<ClientMessage, CallRefusal> {
    let read = { @Sendable [self] in
      Result { () throws(CallRefusal) in
        try ClientMessage(text) { (bytes) throws(CallRefusal) in try admit(bytes, of: holder, now: now) }
      }
    }
    return text.utf8.count <= Self.shortBytes ? read() : try await threads.run(read)
  }

  private func admit(_ bytes: Int, of holder: ByteString, now: Int64) throws(CallRefusal) {
    let wait = offers.withLock { $0.take(holder, max(bytes, CallLimits.offerBytesLeast), at: now) }
    if let wait {
      throw CallRefusal(.limit, "These are too many offers with one token.", retryAfterMilliseconds: wait)
    }
  }
}
