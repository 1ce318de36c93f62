import JSON
import MatrixModel

/// Something on its way. Its record is written before its request goes out and deleted in the batch that brings its event.
struct OutboxEntry: Sendable {
  typealias ID = SendID

  enum Phase: Sendable {
    /// The record is being written.
    case storing
    case queued
    /// The host encrypts it.
    case encrypting
    /// Its files tell of their requests.
    case uploading
    case sending(RequestID)
    /// The server has it; the number of the last sync request that went out before its answer.
    case sent(EventID, afterSync: Int)
    case failed(ClientError)
  }

  /// Place in the order of everything sent, over restarts.
  let id: ID
  let roomID: RoomID
  let transactionID: TransactionID
  let createdAt: Int64
  @Boxed var payload: OutboxPayload
  /// 0 for what has no item of its own.
  var itemID: ItemID = 0
  var phase: Phase
  /// Its event is in a batch being stored: the record must not be written again.
  var isDelivered = false
  /// Known from the answer or from a sync.
  var eventID: EventID?
  /// Whether a request for it has gone out, so that the server may have it though nothing says so.
  var wasTried = false
  /// Until when the server takes no more.
  var heldUntil: Int64?
  /// Waits for the end, not for the queue.
  var command: CommandID = 0
  var backoff = Backoff()

  init(
    id: ID, roomID: RoomID, transactionID: TransactionID, createdAt: Int64, payload: OutboxPayload, phase: Phase
  ) {
    self.id = id
    self.roomID = roomID
    self.transactionID = transactionID
    self.createdAt = createdAt
    self.payload = payload
    self.phase = phase
  }

  /// Still to be sent.
  var isWaiting: Bool {
    if isDelivered { return false }
    switch phase {
    case .storing, .queued, .encrypting, .uploading, .sending: return true
    case .sent, .failed: return false
    }
  }

  /// Whether it can be taken back or changed without a trace: the server has not seen it.
  var isUnseen: Bool {
    if isDelivered || wasTried { return false }
    switch phase {
    case .storing, .queued, .encrypting, .uploading, .failed: return true
    case .sending, .sent: return false
    }
  }

  /// Stored, with files that are not on the server yet.
  var takesUploads: Bool {
    switch phase {
    case .queued, .uploading: !isDelivered && !hasAllFiles
    case .storing, .encrypting, .sending, .sent, .failed: false
    }
  }

  var isFailed: Bool { if case .failed = phase { true } else { false } }

  /// Whether it shows as an item of its own.
  var hasItem: Bool { payload.kind == .event }

  var delivery: Delivery {
    switch phase {
    case .storing, .encrypting: .queued
    case .queued: heldUntil.map { .held(untilMilliseconds: $0) } ?? .queued
    case .uploading: .uploading(sentBytes: sentBytes, totalBytes: totalBytes)
    case .sending: .sending
    case .sent: .sent
    case .failed(let error): .failed(error)
    }
  }

  var progress: SendProgress {
    switch phase {
    case .storing, .queued, .encrypting: .waiting(untilMilliseconds: heldUntil)
    case .uploading: .uploading(sentBytes: sentBytes, totalBytes: totalBytes)
    case .sending: .sending
    case .sent(let event, _): .sent(event)
    case .failed(let error): .failed(error)
    }
  }

  // MARK: Files

  var totalBytes: Int64 { payload.files.reduce(0) { $0 &+ ($1.sizeBytes ?? 0) } }
  var sentBytes: Int64 { payload.files.reduce(0) { $0 &+ ($1.uri == nil ? $1.sentBytes : $1.sizeBytes ?? 0) } }
  var hasAllFiles: Bool { payload.files.allSatisfy { $0.uri != nil } }
  var uploads: Int {
    var count = 0
    for file in payload.files where file.request != nil { count += 1 }
    return count
  }

  // MARK: Item

  /// As the server will send it back, so that an echo looks like its event.
  func item(sender: UserID) -> TimelineItem? {
    guard hasItem, let event = TimelineEvent(echo: self, sender: sender), case .item(let content, let replyTo) = event.kind
    else { return nil }
    var item = TimelineItem(
      id: itemID, eventID: nil, sender: sender, timestampMilliseconds: createdAt, content: content, delivery: delivery,
      replyTo: replyTo)
    item.transactionID = transactionID
    item.threadRoot = event.threadRoot
    item.eventID = eventID
    // The file at hand saves the view from loading what it shows already.
    if case .message(var message) = content, let file = payload.files.last {
      message.attachment?.blob = file.blob
      item.content = .message(message)
    }
    return item
  }

  /// What an edit makes of its target.
  var editedContent: MessageContent? {
    guard payload.kind == .edit, let json = Answer.parse(payload.filledContent) else { return nil }
    do throws(UnreadableReason) { return try MessageContent(json, type: payload.type) } catch { return nil }
  }
}

extension OutboxEntry {
  /// A vote or the end of a poll, as it counts until the server's own comes.
  func vote(by user: UserID) -> TimelineEvent? {
    guard payload.kind == .reference, !isFailed, let event = TimelineEvent(echo: self, sender: user) else { return nil }
    switch event.kind {
    case .vote, .pollEnd:
      return TimelineEvent(
        echo: event.kind, transactionID: transactionID, sender: user, timestampMilliseconds: createdAt)
    default: return nil
    }
  }
}

extension TimelineEvent {
  /// nil where it could not be read back.
  init?(echo entry: OutboxEntry, sender: UserID) {
    var payload = entry.payload
    // What it answers may have no event ID yet.
    if case .entry? = payload.target { payload.target = nil }
    if case .entry? = payload.replyTo { payload.replyTo = nil }
    guard let body = payload.body else { return nil }
    var writer = JSONWriter(capacity: body.count + 256)
    writer.object { writer in
      writer.member("type", payload.type)
      writer.member("event_id", entry.eventID ?? EventID(trusted: "$echo"))
      writer.member("sender", sender)
      writer.member("origin_server_ts", entry.createdAt)
      writer.member("content", raw: body)
    }
    guard let json = Answer.parse(writer.bytes) else { return nil }
    self.init(json)
  }
}
