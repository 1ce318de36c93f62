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

  /// Who speaks on a connection: the offers of all with one token have a rate together.
  final class Speaker: Sendable {
    let holder: ByteString
    fileprivate let offers: Mutex<TokenBucket>

    init(_ holder: ByteString, now: Int64) {
      self.holder = holder
      offers = Mutex(TokenBucket(CallLimits.offerBytesOfConnectionRate, at: now))
    }
  }

  /// - Parameter now: monotonic milliseconds.
  /// - Throws: that too much waits to be read, or the server stops: who comes back says it again.
  func read(_ text: String, of speaker: Speaker, now: Int64) async throws -> Result<ClientMessage, CallRefusal> {
    let read = { @Sendable [self] in
      Result { () throws(CallRefusal) in
        try ClientMessage(text) { (bytes) throws(CallRefusal) in try admit(bytes, of: speaker, now: now) }
      }
    }
    return text.utf8.count <= Self.shortBytes ? read() : try await threads.run(read)
  }

  private func admit(_ bytes: Int, of speaker: Speaker, now: Int64) throws(CallRefusal) {
    let bytes = max(bytes, CallLimits.offerBytesLeast)
    if let wait = speaker.offers.withLock({ $0.take(bytes, at: now) }) {
      throw CallRefusal(.limit, "These are too many offers.", retryAfterMilliseconds: wait)
    }
    if let wait = offers.withLock({ $0.take(speaker.holder, bytes, at: now) }) {
      throw CallRefusal(.limit, "These are too many offers with one token.", retryAfterMilliseconds: wait)
    }
  }
}
