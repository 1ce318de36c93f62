import JSON
import MatrixModel

/// An event of the server, read for the timeline; nothing of it points into the answer it came in.
struct TimelineEvent: Sendable {
  enum Kind: Sendable {
    case item(TimelineItem.Content, replyTo: EventID?)
    indirect case edit(EventID, MessageContent)
    case reaction(EventID, key: ByteString)
    case redaction(EventID)
    case vote(EventID, [ByteString])
    case pollEnd(EventID)
    indirect case position(EventID, LiveLocation.Position)
    indirect case callSign(ByteString, CallSign)
    /// The sender's live location has ended.
    case liveLocationEnd
    /// Says something about another event without a row of its own (`m.reference`).
    case reference(EventID)
    /// How a verification that the event asks for goes on.
    case verificationSign(EventID, VerificationSign)
    /// Known, but nothing to show.
    case hidden
  }

  let eventID: EventID
  let sender: UserID
  let timestampMilliseconds: Int64
  let transactionID: TransactionID?
  let kind: Kind
  /// Whether it came encrypted.
  private(set) var wasEncrypted = false
  /// How far it is proven to be its sender's, as far as that is known.
  private(set) var trust: MessageTrust?
  /// Who gave the key to the user when they invited them.
  private(set) var keyGiver: UserID?
  /// The root of the thread it was said in.
  private(set) var threadRoot: EventID?
  /// The newest edit, where the server sent it along. Spec: "Server-side aggregation of m.replace".
  var bundledEdit: Edit?
  /// Spec: "Server-side aggregation of m.thread relationships".
  private(set) var bundledThread: BundledThread?
  /// Events that refer to this one (`m.reference`), as the server sent them along.
  private(set) var bundledReferences: [EventID] = []

  struct Edit: Sendable {
    let eventID: EventID
    let sender: UserID
    let timestampMilliseconds: Int64
    @Boxed private(set) var content: MessageContent
    /// As of the event that edits.
    let wasEncrypted: Bool
    var trust: MessageTrust?

    /// Whether it may edit an event that came encrypted, or not. Else a server could put its words under what somebody has encrypted.
    func mayEdit(encrypted: Bool) -> Bool { wasEncrypted || !encrypted }
  }

  struct BundledThread: Sendable {
    let count: Int
    let latest: ThreadSummary.Reply?
    let isParticipating: Bool
  }

  /// nil for what has no event ID or sender: nobody could refer to it.
  init?(_ json: JSON) { self.init(json, Event(json)) }

  /// - Parameter event: what `Event(json)` is.
  init?(_ json: JSON, _ event: Event?) {
    guard let eventID = event?.eventID ?? EventID(json["event_id"]), let sender = event?.sender ?? UserID(json["sender"])
    else { return nil }
    self.eventID = eventID
    self.sender = sender
    timestampMilliseconds = event?.originServerTimestamp ?? json.integer("origin_server_ts") ?? 0
    let unsigned = event?.unsigned ?? json["unsigned"]
    transactionID = TransactionID(unsigned?["transaction_id"])
    guard let event else {
      kind = .item(.unparsable(EventType(json["type"]) ?? EventType(trusted: ""), .noEvent), replyTo: nil)
      return
    }
    kind = TimelineEvent.kind(of: event, json)
    readMark(json)
    if event.stateKey == nil, let relation = event.content["m.relates_to"], relation.isRelation("m.thread") {
      threadRoot = EventID(relation["event_id"]).flatMap { $0 == eventID ? nil : $0 }
    }
    guard let relations = unsigned?["m.relations"] else { return }
    bundledEdit = relations["m.replace"].flatMap { Edit(bundled: $0, toEncrypted: wasEncrypted) }
    bundledThread = relations["m.thread"].flatMap { BundledThread($0) }
    if let chunk = relations["m.reference"]?["chunk"], chunk.isArray {
      bundledReferences = chunk.elements.prefix(Limits.references).compactMap { EventID($0["event_id"]) }
    }
  }

  mutating func readMark(_ json: JSON) {
    let mark = json[MessageTrust.mark]
    (trust, keyGiver) = (MessageTrust(mark: mark), UserID(mark?["giver"]))
    // Clear text in a room that is encrypted has a mark as well.
    wasEncrypted = mark != nil && trust != .unencrypted
  }

  /// Creates a placeholder for an event that is being sent. It counts until the event comes (`Relations.take`).
  init(echo kind: Kind, transactionID: TransactionID, sender: UserID, timestampMilliseconds: Int64) {
    eventID = TimelineEvent.echoID(of: transactionID)
    self.sender = sender
    self.timestampMilliseconds = timestampMilliseconds
    self.transactionID = nil
    self.kind = kind
  }

  /// No event of a server has such an ID.
  static func echoID(of transactionID: TransactionID) -> EventID {
    EventID(trusted: ByteString("~" + transactionID.string))
  }

  var isEcho: Bool { eventID.text.hasPrefix("~") }
}

extension TimelineEvent.Edit {
  /// nil where the bundled event is no edit that can be shown.
  init?(bundled json: JSON, toEncrypted isEncrypted: Bool) {
    guard let event = Event(json), let eventID = event.eventID, let sender = event.sender,
      let content = MessageContent(edit: event)
    else { return nil }
    let mark = json[MessageTrust.mark], trust = MessageTrust(mark: mark)
    self.init(
      eventID: eventID, sender: sender, timestampMilliseconds: event.originServerTimestamp ?? 0, content: content,
      wasEncrypted: mark != nil && trust != .unencrypted, trust: trust)
    guard mayEdit(encrypted: isEncrypted) else { return nil }
  }

  /// The event that edits.
  init(_ event: TimelineEvent, _ content: MessageContent) {
    self.init(
      eventID: event.eventID, sender: event.sender, timestampMilliseconds: event.timestampMilliseconds, content: content,
      wasEncrypted: event.wasEncrypted, trust: event.trust)
  }
}

extension TimelineEvent.BundledThread {
  init?(_ json: JSON) {
    guard let count = json["count"]?.count32 else { return nil }
    self.count = count
    isParticipating = json.bool("current_user_participated") ?? false
    // Bundles in bundles end here: `latest_event` is read, what it bundles is not.
    guard let listed = json["latest_event"], let event = TimelineEvent(reply: listed),
      case .item(let content, _) = event.kind
    else {
      latest = nil
      return
    }
    var shown = content
    if let edit = event.bundledEdit, edit.sender == event.sender, case .message = content {
      shown = .message(edit.content)
    }
    latest = ThreadSummary.Reply(
      eventID: event.eventID, sender: event.sender, timestampMilliseconds: event.timestampMilliseconds, content: shown)
  }
}

extension JSON {
  /// Whether this is the `m.relates_to` of that kind.
  func isRelation(_ type: StaticString) -> Bool { self["rel_type"]?.isString(type) ?? false }
}
