import JSON
import MatrixModel

/// A message that another process (a share extension) wants to be sent. It writes a record; the process that syncs makes an
/// outbox entry of it, in one batch with the end of the record, so that it is sent once.
public enum Inbox {
  /// What the other process writes into the store. nil for an empty message.
  /// - Parameters:
  ///   - now: milliseconds since 1970; messages are taken over in the order of their times.
  ///   - randomSeed: from the host's cryptographic source.
  public static func put(_ text: ByteString, to room: RoomID, now: Int64, randomSeed: UInt64) -> StoreOperation? {
    guard !text.isEmpty else { return nil }
    var random = RandomSource(seed: randomSeed)
    let entry = OutboxEntry(
      id: 0, roomID: room, transactionID: random.transactionID(at: now), createdAt: now,
      content: MessageContent(kind: .text, body: text), replyTo: nil, phase: .queued)
    let name = StoreKey.hexadecimal(UInt64(max(now, 0)), digits: 16) + StoreKey.hexadecimal(random.next(), digits: 16)
    return .put(key: ByteString(StoreKey.inbox.string + name), value: entry.record)
  }

  /// Whether the operation only adds a message, which is all that a process without the store's lock may do.
  public static func contains(_ operation: StoreOperation) -> Bool {
    if case .put(let key, _) = operation { return key.utf8.starts(with: StoreKey.inbox.utf8) }
    return false
  }
}

extension Client {
  mutating func loadInbox() {
    guard session != nil else { return }
    load(StoreRange(prefix: StoreKey.inbox), .inbox)
  }

  mutating func takeInbox(_ records: [StoreRecord]) {
    guard let user = session?.userID else { return }
    for record in records {
      guard let read = Answer.parse(record.value).flatMap({ OutboxEntry(record: $0) }) else {
        write([.delete(key: record.key)])
        continue
      }
      // Those that do not fit wait for the next time.
      guard outbox.entries.count < Limits.outboxEntries else { return }
      var entry = OutboxEntry(
        id: outbox.nextID(), roomID: read.roomID, transactionID: read.transactionID, createdAt: read.createdAt,
        content: read.content, replyTo: read.replyTo, phase: .storing)
      entry.itemID = itemIDs.next()
      outbox.append(entry)
      showEcho(entry, user)
      write(
        [.put(key: StoreKey.outbox(entry.id), value: entry.record), .delete(key: record.key)], .outbox(entry.id))
    }
  }
}
