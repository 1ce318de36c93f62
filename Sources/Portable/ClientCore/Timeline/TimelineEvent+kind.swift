import JSON
import MatrixModel

/// What an event is for the timeline.
extension TimelineEvent {
  static func kind(of event: Event, _ json: JSON) -> Kind {
    if event.stateKey != nil { return state(event) }
    let isEmpty = event.isRedacted || event.content.count == 0
    switch event.type {
    case .message, .sticker, .encrypted, .pollStart, .unstablePollStart:
      // What was redacted has lost its content, whether the server says so or not.
      return isEmpty ? .item(.redacted, replyTo: nil) : Kind(verification: event) ?? message(event)
    case .redaction:
      // Room version 11 moved it into the content.
      return (EventID(event.content["redacts"]) ?? EventID(json["redacts"])).map { .redaction($0) } ?? .hidden
    case .reaction, .pollResponse, .unstablePollResponse, .pollEnd, .unstablePollEnd, .beacon, .unstableBeacon:
      return isEmpty ? .hidden : relation(event)
    default:
      // Only that a call was made has a row that can be emptied.
      let hasRow = !event.type.isOfCall || event.type == .callInvite
      return isEmpty && hasRow ? .item(.redacted, replyTo: nil) : other(event)
    }
  }

  private static func state(_ event: Event) -> Kind {
    if event.type == .beaconInfo || event.type == .unstableBeaconInfo { return liveLocation(event) }
    guard let change = StateChange(event) else { return .hidden }
    guard event.isRedacted else { return .item(.state(change), replyTo: nil) }
    return .item(change.redacted.map { .state($0) } ?? .redacted, replyTo: nil)
  }

  private static func liveLocation(_ event: Event) -> Kind {
    if event.isRedacted { return .item(.redacted, replyTo: nil) }
    guard event.content.bool("live") ?? false else { return .liveLocationEnd }
    do throws(UnreadableReason) {
      let sentAt = event.originServerTimestamp ?? 0
      return .item(.message(try MessageContent(beaconInfo: event.content, timestampMilliseconds: sentAt)), replyTo: nil)
    } catch {
      return .item(.unparsable(event.type, error), replyTo: nil)
    }
  }

  /// Events that only say something about another one.
  private static func relation(_ event: Event) -> Kind {
    guard let relation = event.content["m.relates_to"], let target = EventID(relation["event_id"]),
      let eventID = event.eventID
    else { return .hidden }
    let isReference = relation.isRelation("m.reference")
    switch event.type {
    case .reaction:
      guard relation.isRelation("m.annotation"), let key = relation.text("key"), key.count <= Limits.reactionBytes else {
        return .hidden
      }
      return .reaction(target, key: key)
    case .pollResponse, .unstablePollResponse:
      return isReference ? .vote(target, MessageContent.selections(event.content)) : .hidden
    case .pollEnd, .unstablePollEnd: return isReference ? .pollEnd(target) : .hidden
    default:
      let position = LiveLocation.Position(
        event.content, event: eventID, timestampMilliseconds: event.originServerTimestamp ?? 0)
      return isReference ? position.map { .position(target, $0) } ?? .hidden : .hidden
    }
  }

  private static func message(_ event: Event) -> Kind {
    let relation = event.content["m.relates_to"]
    let isEdit = relation?.isRelation("m.replace") ?? false
    if event.type == .encrypted {
      return isEdit ? .hidden : .item(.undecryptable(UndecryptableReason(ofEncrypted: event.content)), replyTo: nil)
    }
    if isEdit {
      guard let target = EventID(relation?["event_id"]), let content = MessageContent(edit: event) else { return .hidden }
      return .edit(target, content)
    }
    var replyTo = EventID(relation?["m.in_reply_to"]?["event_id"])
    let hasFallback = replyTo != nil
    // In a thread it is there for clients that know no threads. Spec: "Fallback for unthreaded clients".
    if relation?.isRelation("m.thread") ?? false, relation?.bool("is_falling_back") ?? false { replyTo = nil }
    do throws(UnreadableReason) {
      var content = try MessageContent(event.content, type: event.type)
      if hasFallback { content.removeReplyFallback() }
      return .item(.message(content), replyTo: replyTo)
    } catch {
      return .item(.unparsable(event.type, error), replyTo: replyTo)
    }
  }

  /// Of a type this client does not know.
  private static func other(_ event: Event) -> Kind {
    let relation = event.content["m.relates_to"]
    if let relation, relation.isRelation("m.reference"), let target = EventID(relation["event_id"]) {
      return VerificationSign(event.type).map { .verificationSign(target, $0) } ?? .reference(target)
    }
    if relation?.isRelation("m.replace") ?? false { return .hidden }
    if event.type.isOfCall { return Kind(call: event) }
    return .item(.custom(CustomEvent(event)), replyTo: nil)
  }
}

extension MessageContent {
  /// The content by which an edit replaces the original; nil if the event is not a valid edit.
  init?(edit event: Event) {
    guard let new = event.content["m.new_content"], new.isObject else { return nil }
    do throws(UnreadableReason) {
      try self.init(new, type: event.type)
    } catch {
      return nil
    }
  }
}

extension TimelineEvent {
  /// Like `init(_:)`, but of what the server bundles only the edit is read: bundles may be nested as deep as the answer.
  init?(reply json: JSON) {
    guard let event = Event(json), let eventID = event.eventID, let sender = event.sender else { return nil }
    self.eventID = eventID
    self.sender = sender
    timestampMilliseconds = event.originServerTimestamp ?? 0
    transactionID = nil
    kind = TimelineEvent.kind(of: event, json)
    readMark(json)
    bundledEdit = (event.unsigned?["m.relations"]?["m.replace"]).flatMap { Edit(bundled: $0, toEncrypted: wasEncrypted) }
  }
}
