import JSON
import MatrixModel

/// A message on its way. Its record is written before its request goes out and deleted in the batch that brings its event.
struct OutboxEntry: Sendable {
  typealias ID = UInt64

  enum Phase: Sendable {
    /// The record is being written.
    case storing
    case queued
    case uploading(RequestID)
    case sending(RequestID)
    /// The server has it; the number of the last sync request that went out before its answer.
    case sent(EventID, afterSync: Int)
    case failed(ClientError)
  }

  /// Place in the order of all messages, over restarts.
  let id: ID
  let roomID: RoomID
  let transactionID: TransactionID
  let createdAt: Int64
  var content: MessageContent
  let replyTo: EventID?
  var itemID: ItemID = 0
  var phase: Phase
  /// Its event is in a batch being stored: the record must not be written again.
  var isDelivered = false
  var backoff = Backoff()

  /// Still to be sent.
  var isWaiting: Bool {
    if isDelivered { return false }
    switch phase {
    case .storing, .queued, .uploading, .sending: return true
    case .sent, .failed: return false
    }
  }

  var delivery: Delivery {
    switch phase {
    case .storing, .queued: .queued
    case .uploading: .uploading(sentBytes: 0, totalBytes: content.attachment?.sizeBytes ?? 0)
    case .sending: .sending
    case .sent: .sent
    case .failed(let error): .failed(error)
    }
  }

  func item(sender: UserID) -> TimelineItem {
    var item = TimelineItem(
      id: itemID, eventID: nil, sender: sender, timestampMilliseconds: createdAt, content: .message(content),
      delivery: delivery,
      replyTo: replyTo)
    item.transactionID = transactionID
    if case .sent(let event, _) = phase { item.eventID = event }
    return item
  }

  // MARK: Record

  var record: [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("id", Int64(bitPattern: id))
      writer.member("room", roomID)
      writer.member("transaction", transactionID)
      writer.member("time", createdAt)
      writer.member("kind", Int(content.kind.rawValue))
      writer.key("content")
      content.write(to: &writer, replyTo: replyTo)
      if let blob = content.attachment?.blob { writer.member("blob", blob.name) }
      switch phase {
      case .sent(let event, _): writer.member("event", event)
      case .failed(let error): error.writeMember(to: &writer)
      default: break
      }
    }
    return writer.bytes
  }

  init?(record: JSON) {
    guard let id = record["id"]?.integer, let room = RoomID(record["room"]),
      let transaction = TransactionID(record["transaction"]),
      let kindNumber = record["kind"]?.integer,
      let kind = UInt8(exactly: kindNumber).flatMap(MessageContent.Kind.init(rawValue:)),
      let json = record["content"], let body = json["body"]?.text
    else { return nil }
    var content = MessageContent(kind: kind, body: body, attachment: kind.hasFile ? Attachment(json, body: body) : nil)
    content.attachment?.blob = (record["blob"]?.text).map { BlobHandle($0) }
    var phase = Phase.queued
    if let event = EventID(record["event"]) {
      phase = .sent(event, afterSync: 0)
    } else if let error = ClientError(outboxRecord: record) {
      phase = .failed(error)
    }
    self.init(
      id: OutboxEntry.ID(bitPattern: id), roomID: room, transactionID: transaction,
      createdAt: record["time"]?.integer ?? 0,
      content: content, replyTo: EventID(json["m.relates_to"]?["m.in_reply_to"]?["event_id"]), phase: phase)
  }

  init(
    id: ID, roomID: RoomID, transactionID: TransactionID, createdAt: Int64, content: MessageContent, replyTo: EventID?,
    phase: Phase
  ) {
    self.id = id
    self.roomID = roomID
    self.transactionID = transactionID
    self.createdAt = createdAt
    self.content = content
    self.replyTo = replyTo
    self.phase = phase
  }
}

extension ClientError {
  /// Only what makes a message fail for good.
  func writeMember(to writer: inout JSONWriter) {
    writer.key("failed")
    writer.object { writer in
      guard case .refused(let status, let code, let message, _) = self else { return }
      writer.member("status", status)
      writer.member("errcode", code.text)
      writer.member("error", message)
    }
  }

  init?(outboxRecord record: JSON) {
    guard let failed = record["failed"] else { return nil }
    guard let status = failed["status"]?.count32 else {
      self = .attachmentIsGone
      return
    }
    self = .refused(
      status: status, code: ErrorCode(failed["errcode"]?.text ?? ""), message: failed["error"]?.text ?? "")
  }
}
