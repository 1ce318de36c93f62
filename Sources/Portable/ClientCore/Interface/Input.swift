import JSON
import MatrixModel

/// What the host tells the client. Every input comes with the time, see `Client.handle`.
public enum Input: Sendable {
  /// Once, first. The client asks for its records and goes on from what they hold.
  case start
  /// Answer to `Effect.load`. An unreadable store is answered with no records.
  case loaded(LoadID, [StoreRecord])
  /// Answer to `Effect.write`; false where the batch could not be stored. In the order of the writes.
  case written(WriteID, Bool)
  /// Another process may have put messages into the store's inbox.
  case inboxChanged
  /// Answer to `Effect.request`, `Effect.upload` and `Effect.uploadEncrypted`.
  case response(RequestID, Response)
  /// Bytes of an upload that are on their way.
  case uploadProgress(RequestID, sentBytes: Int64, totalBytes: Int64)
  /// What decrypts the body of an `Effect.uploadEncrypted`, all of which was sent. `Input.response` follows.
  case fileEncrypted(RequestID, FileKeys)
  /// A timer of `Effect.startTimer` has run out.
  case timerFired(TimerID)
  /// Answer to `Effect.encrypt`: the content of the `m.room.encrypted`. The batch that the client writes then goes into the store with what the host
  /// has to keep of the encryption.
  case encrypted(SendID, [UInt8])
  /// Answer to `Effect.encrypt`: it fails for good.
  case notEncrypted(SendID, ClientError)
  /// Events that came encrypted, as they are in clear text: their keys were late. What the store has of them stays as it is.
  case decrypted(RoomID, [JSON])
  /// The machine has lost or found its network.
  case networkChanged(isOnline: Bool)
  /// Whether a person can see the page and whether its window has the focus. Receipts are sent only while both are true.
  case attentionChanged(isVisible: Bool, isFocused: Bool)
  /// Whether anybody wants to know who is there (`Change.presence`). Not at the start.
  case presenceWanted(Bool)
  /// What the person wants. `id` comes back in `Change.commandFinished`.
  case command(Command, id: CommandID)

  // Queries
  /// Asks the server. The query ends with `Effect.queryEnded` under the same ID.
  case query(QueryRequest, id: CommandID)
  /// The caller does not wait any more: the requests of this command or query end, and so does it, with `cancelled`. What the
  /// server has begun to do may still happen.
  case cancel(CommandID)
}

public typealias RequestID = UInt32
public typealias TimerID = UInt32
public typealias WriteID = UInt32
public typealias LoadID = UInt32
/// Chosen by the caller, different for every command and query that is under way; 0 where it does not want to know the end.
public typealias CommandID = UInt32

/// One record of the store.
public struct StoreRecord: Sendable {
  public var key: ByteString
  public var value: [UInt8]

  public init(key: ByteString, value: [UInt8]) {
    self.key = key
    self.value = value
  }
}
