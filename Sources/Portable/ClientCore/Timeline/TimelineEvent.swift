import JSON
import MatrixModel

/// An event of the server, read for the timeline; nothing of it points into the answer it came in.
struct TimelineEvent: Sendable {
  enum Kind: Sendable {
    case item(TimelineItem.Content, replyTo: EventID?)
    case edit(EventID, MessageContent)
    case reaction(EventID, key: ByteString)
    case redaction(EventID)
    /// Known, but nothing to show.
    case hidden
  }

  let eventID: EventID
  let sender: UserID
  let timestampMilliseconds: Int64
  let transactionID: TransactionID?
  let kind: Kind
  /// The newest edit, where the server sent it along. Spec: "Server-side aggregation of m.replace".
  var bundledEdit: Edit?

  struct Edit: Sendable {
    let eventID: EventID
    let sender: UserID
    let timestampMilliseconds: Int64
    let content: MessageContent
  }

  /// nil for what has no event ID or sender: nobody could refer to it.
  init?(_ json: JSON) { self.init(json, Event(json)) }

  /// - Parameter event: what `Event(json)` is.
  init?(_ json: JSON, _ event: Event?) {
    guard let eventID = event?.eventID ?? EventID(json["event_id"]), let sender = event?.sender ?? UserID(json["sender"])
    else { return nil }
    self.eventID = eventID
    self.sender = sender
    timestampMilliseconds = event?.originServerTimestamp ?? json["origin_server_ts"]?.integer ?? 0
    let unsigned = event?.unsigned ?? json["unsigned"]
    transactionID = TransactionID(unsigned?["transaction_id"])
    guard let event else {
      kind = .item(.unparsable(EventType(json["type"]) ?? EventType(trusted: "")), replyTo: nil)
      return
    }
    kind = TimelineEvent.kind(of: event, json)
    bundledEdit = (unsigned?["m.relations"]?["m.replace"]).flatMap { Edit(bundled: $0) }
  }

  private static func kind(of event: Event, _ json: JSON) -> Kind {
    if event.stateKey != nil {
      return StateChange(event).map { .item(.state($0), replyTo: nil) } ?? .hidden
    }
    switch event.type {
    case .message, .sticker, .encrypted:
      // What was redacted has lost its content, whether the server says so or not.
      if event.isRedacted || event.content.count == 0 { return .item(.redacted, replyTo: nil) }
      return message(event)
    case .reaction:
      guard let relation = event.content["m.relates_to"], relation["rel_type"]?.isString("m.annotation") ?? false,
        let target = EventID(relation["event_id"]), let key = relation["key"]?.text, !event.isRedacted
      else { return .hidden }
      return .reaction(target, key: key)
    case .redaction:
      // Room version 11 moved it into the content.
      return (EventID(event.content["redacts"]) ?? EventID(json["redacts"])).map { .redaction($0) } ?? .hidden
    default:
      return .item(.unparsable(event.type), replyTo: nil)
    }
  }

  private static func message(_ event: Event) -> Kind {
    let relation = event.content["m.relates_to"]
    let replacing = relation?["rel_type"]?.isString("m.replace") ?? false ? EventID(relation?["event_id"]) : nil
    if event.type == .encrypted { return replacing == nil ? .item(.undecryptable, replyTo: nil) : .hidden }
    if let target = replacing {
      guard let new = event.content["m.new_content"], let content = MessageContent(new, type: event.type) else {
        return .hidden
      }
      return .edit(target, content)
    }
    let replyTo = EventID(relation?["m.in_reply_to"]?["event_id"])
    guard var content = MessageContent(event.content, type: event.type) else {
      return .item(.unparsable(event.type), replyTo: replyTo)
    }
    if replyTo != nil { content.removeReplyFallback() }
    return .item(.message(content), replyTo: replyTo)
  }
}

extension TimelineEvent.Edit {
  /// nil where the bundled event is no edit that can be shown.
  init?(bundled json: JSON) {
    guard let event = Event(json), let eventID = event.eventID, let sender = event.sender,
      let new = event.content["m.new_content"], let content = MessageContent(new, type: event.type)
    else { return nil }
    self.init(
      eventID: eventID, sender: sender, timestampMilliseconds: event.originServerTimestamp ?? 0, content: content)
  }
}
