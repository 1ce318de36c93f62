public import ClientCore
import JSON
public import MatrixModel

/// Something on its way to a room: it is in the outbox, and how it gets on can be followed.
///
///     let sending = try await room.send("Hello")
///     let event = try await sending.sent()
public struct Sending: Sendable, Hashable {
  public let room: MatrixRoom
  public let id: SendID

  /// What an edit, a reaction or a reply may speak of before the server has it.
  public var target: SendTarget { .sending(id) }

  /// How it gets on, beginning with what is known; ends when the server has it or it is cancelled.
  public func progress() async -> AsyncStream<SendProgress> { await room.client.progress(of: id) }

  /// Waits until the server has it.
  /// - Parameter progress: of its files together, in bytes.
  /// - Throws: the reason, where it failed: it stays in the outbox until `retry` or `cancel`. `cancelled` where it was taken back or
  ///   the task was cancelled: then it goes on without anybody waiting.
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

  /// Once more, with what waits for it.
  public func retry() async throws(ClientError) { try await room.client.perform(.sending(.retry(room.id, target))) }
  /// Takes it back. Nothing happens where the server has it.
  public func cancel() async throws(ClientError) { try await room.client.perform(.sending(.cancel(room.id, target))) }
}

/// The last that was heard of the newest entries of the outbox, for those who ask later.
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
  /// Whether nothing more comes.
  var isLast: Bool {
    switch self {
    case .sent, .cancelled: true
    case .waiting, .uploading, .sending, .failed: false
    }
  }
}

extension MatrixClient {
  /// Puts a message into the outbox; it goes out in order, also after a restart where the store is a file.
  /// - Throws: `invalidContent` where there is nothing to say.
  @discardableResult
  public func send(_ message: OutgoingMessage, to room: RoomID) async throws(ClientError) -> Sending {
    try await queue(.sending(.send(room, message)), in: room)
  }

  /// A command that ends in the outbox.
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
