public import ClientCore
import JSON
public import MatrixModel

/// A message in the outbox, whose progress an app can follow.
///
///     let sending = try await room.send("Hello")
///     let event = try await sending.sent()
public struct Sending: Sendable, Hashable {
  public let room: MatrixRoom
  public let id: SendID

  /// The target of an edit, a reaction or a reply before the server has the message.
  public var target: SendTarget { .sending(id) }

  /// Returns a stream of the progress, starting with the current state. It ends when the server has the message, or when it is cancelled.
  public func progress() async -> AsyncStream<SendProgress> { await room.client.progress(of: id) }

  /// Waits until the server has the message.
  /// - Parameter progress: receives the progress of its files together, in bytes.
  /// - Throws: the error if sending failed; the message stays in the outbox until `retry` or `cancel`. `cancelled` if the message was
  ///   cancelled, or the task: then sending continues without a caller.
  @discardableResult
  public func sent(
    progress: (@Sendable (_ sentBytes: Int64, _ totalBytes: Int64) -> Void)? = nil
  ) async throws(ClientError) -> EventID {
    for await step in await self.progress() {
      switch step {
      case .waiting, .sending: break
      case .uploading(let sent, let total): progress?(sent, total)
      case .sent(let event): return event
      case .failed(let error): throw error
      case .cancelled: throw .cancelled
      }
    }
    throw .cancelled
  }

  /// Retries the message, and those that wait for it.
  public func retry() async throws(ClientError) { try await room.client.perform(.sending(.retry(room.id, target))) }
  /// Cancels the message. Does nothing if the server has it.
  public func cancel() async throws(ClientError) { try await room.client.perform(.sending(.cancel(room.id, target))) }
}

/// The last known progress of the newest entries of the outbox, for later callers.
struct SendingLog {
  private var last: [SendID: SendProgress] = [:]
  private var order: [SendID] = []

  private static let entriesLimit = 1_000

  subscript(id: SendID) -> SendProgress? { last[id] }

  mutating func note(_ id: SendID, _ progress: SendProgress) {
    if last.updateValue(progress, forKey: id) == nil { order.append(id) }
    if order.count > Self.entriesLimit { last[order.removeFirst()] = nil }
  }
}

extension SendProgress {
  /// Whether this is the last progress.
  var isLast: Bool {
    switch self {
    case .sent, .cancelled: true
    case .waiting, .uploading, .sending, .failed: false
    }
  }
}

extension MatrixClient {
  /// Puts a message into the outbox. The client sends messages in order. If the store is a file, it does so even after a restart.
  /// - Throws: `invalidContent` if the message is empty.
  @discardableResult
  public func send(_ message: OutgoingMessage, to room: RoomID) async throws(ClientError) -> Sending {
    try await queue(.sending(.send(room, message)), in: room)
  }

  /// Carries out a command that puts a message into the outbox.
  func queue(_ command: Command, in room: RoomID) async throws(ClientError) -> Sending {
    guard case .queued(let id) = try await result(of: command) else { throw .invalidContent }
    return Sending(room: self.room(room), id: id)
  }

  func progress(of id: SendID) -> AsyncStream<SendProgress> {
    stream(startingWith: sendings[id].map { [$0] } ?? [], endingWith: { $0.isLast }) { change, _ in
      if case .sending(_, id, let progress) = change { [progress] } else { [] }
    }
  }
}
