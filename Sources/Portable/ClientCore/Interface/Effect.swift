import JSON
import MatrixModel

/// What the host is to do. Effects are carried out in order; none is answered before `handle` has returned.
public enum Effect: Sendable {
  /// Answer with `Input.response`.
  indirect case request(RequestID, HTTPRequest)
  /// Send the blob as the body. Report `Input.uploadProgress` on the way and `Input.response` at the end.
  indirect case upload(RequestID, HTTPRequest, BlobHandle)
  /// Encrypt the blob with a new key, new for each of these, and send the ciphertext as the body. Report as for `upload`, and `Input.fileEncrypted`
  /// before the response.
  indirect case uploadEncrypted(RequestID, HTTPRequest, BlobHandle)
  /// The answer is no longer wanted; an answer that comes all the same is ignored.
  case cancelRequest(RequestID)
  /// Answer with `Input.timerFired` after that time, once.
  indirect case startTimer(TimerID, milliseconds: Int64)
  case cancelTimer(TimerID)
  /// Read these records, after every write before it. Answer with `Input.loaded`.
  indirect case load(LoadID, StoreRange)
  /// Carry out in order, all or nothing, after every write before it. Answer with `Input.written` when it is durable.
  case write(WriteID, [StoreOperation])
  /// Encrypt the message for those users. Answer with `Input.encrypted` or `Input.notEncrypted`.
  indirect case encrypt(SendID, UnencryptedMessage)
  /// The user begins to write: give the readers the key of the room's next message. Nothing is answered.
  indirect case prepareEncryption(MessageReaders)
  /// The host need not keep the blob any more.
  case releaseBlob(BlobHandle)
  /// Something a view shows is now different.
  case change(Change)

  // Queries
  /// The end of `Input.query`, for its caller only.
  case queryEnded(CommandID, QueryResult)
  /// How far the upload of a query has come.
  indirect case queryProgress(CommandID, sentBytes: Int64, totalBytes: Int64)
}

/// Who is to read the next message of an encrypted room.
public struct MessageReaders: Sendable {
  public let room: RoomID
  /// Who has joined and, where the room's history visibility lets them read it, who is invited.
  public let users: [UserID]
  /// Whether members who come later may read it.
  public let sharesHistory: Bool
}

/// A message for an encrypted room, and who is to read it.
public struct UnencryptedMessage: Sendable {
  public let room: RoomID
  /// Who has joined and, where the room's history visibility lets them read it, who is invited.
  public let users: [UserID]
  /// Whether members who come later may read it.
  public let sharesHistory: Bool
  public let type: EventType
  /// A JSON object.
  public let content: [UInt8]
}

/// A change of the store. Keys are ASCII.
public enum StoreOperation: Sendable {
  case put(key: ByteString, value: [UInt8])
  case delete(key: ByteString)
  /// Every record whose key begins with these bytes.
  case deleteAll(prefix: ByteString)
}
