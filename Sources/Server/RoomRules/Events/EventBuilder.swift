import JSON
import MatrixModel

/// Turns drafts into signed events: content hash, signature, event ID and the fragments for storage.
///
/// On the path of every message, so bytes are written in canonical order and never sorted; only the content is made canonical,
/// once. Of the about 20 µs an event takes, 16 are the signature. Spec: Server-Server API, "Signing Events".
package struct EventBuilder: Sendable {
  package let server: ServerName
  private let key: SigningKey

  package init(server: ServerName, key: SigningKey) {
    self.server = server
    self.key = key
  }

  /// - Throws: `EventFormatError` where the draft has no canonical form or exceeds a limit of `EventLimits`. Whether the
  ///   event is allowed is `RoomVersion.authorize`'s question.
  package func build(_ draft: EventDraft) throws(EventFormatError) -> SignedEvent {
    try Self.check(draft)
    let content = try Self.canonicalContent(draft)
    let fields = CanonicalFields(draft)

    let hash = SHA256.digest(of: fields.event(content: content, hashes: nil, signatures: nil))
    var hashes = JSONWriter(capacity: 64)
    hashes.object { $0.member("sha256", raw: Self.quoted(UnpaddedBase64.encode(hash))) }

    // What is signed is also what the event ID hashes: the redacted event without `signatures`.
    let redacted = fields.event(
      content: draft.version.redaction.redactedContent(canonical: content, type: draft.type), hashes: hashes.bytes,
      signatures: nil, keepsRedacts: false)
    let eventID = EventID(hash: SHA256.digest(of: redacted))
    let signatures = signatures(of: redacted)

    let bytes = fields.event(content: content, hashes: hashes.bytes, signatures: signatures)
    guard bytes.count <= EventLimits.bytes else { throw .tooLarge(bytes: bytes.count) }
    return SignedEvent(
      eventID: eventID, roomID: draft.roomID ?? RoomID(createEvent: eventID), bytes: bytes,
      fragments: fields.fragments(content: content, hashes: hashes.bytes, signatures: signatures))
  }

  private func signatures(of redacted: [UInt8]) -> [UInt8] {
    let signature = UnpaddedBase64.encode(key.sign(redacted))
    var writer = JSONWriter(capacity: 160)
    writer.object { writer in
      writer.key(server.text)
      writer.object { writer in
        writer.key(key.keyID)
        writer.raw(Self.quoted(signature))
      }
    }
    return writer.bytes
  }

  private static func quoted(_ base64: [UInt8]) -> [UInt8] {
    [UInt8(ascii: "\"")] + base64 + [UInt8(ascii: "\"")]
  }

  private static func canonicalContent(_ draft: EventDraft) throws(EventFormatError) -> [UInt8] {
    guard draft.content.isObject else { throw .field("content") }
    do throws(JSONError) { return try draft.content.canonical() } catch { throw .notCanonical }
  }

  private static func check(_ draft: EventDraft) throws(EventFormatError) {
    guard draft.type.text.count <= EventLimits.typeBytes else { throw .fieldTooLarge("type") }
    if let stateKey = draft.stateKey, stateKey.count > EventLimits.stateKeyBytes { throw .fieldTooLarge("state_key") }
    guard UserID.accepts(draft.sender.text) else { throw .field("sender") }
    guard draft.prevEvents.count <= EventLimits.prevEvents else { throw .fieldTooLarge("prev_events") }
    guard draft.authEvents.count <= EventLimits.authEvents else { throw .fieldTooLarge("auth_events") }
    guard (0...EventLimits.depth).contains(draft.depth) else { throw .field("depth") }
    guard draft.originServerTimestamp.magnitude <= JSON.integerMagnitudeLimit else { throw .field("origin_server_ts") }
    let needsRoomID = !(draft.version.roomIDIsCreateHash && draft.type == .create)
    guard let roomID = draft.roomID else {
      if needsRoomID { throw .field("room_id") }
      return
    }
    guard needsRoomID else { throw .createNamesRoom }
    guard RoomID.accepts(roomID.text), draft.version.roomIDIsCreateHash || roomID.text.utf8.contains(UInt8(ascii: ":"))
    else {
      throw .field("room_id")
    }
    if draft.version.roomIDIsCreateHash, draft.authEvents.contains(EventID(createEventOf: roomID)) {
      throw .authEventsNameCreate
    }
  }
}

/// The draft's fields in canonical order, around content, hashes and signatures.
private struct CanonicalFields {
  let draft: EventDraft
  let authEvents: [UInt8]
  let prevEvents: [UInt8]

  init(_ draft: EventDraft) {
    self.draft = draft
    authEvents = Self.list(draft.authEvents)
    prevEvents = Self.list(draft.prevEvents)
  }

  private var redacts: EventID? { draft.version.redactsInContent ? nil : draft.redacts }

  func event(content: [UInt8], hashes: [UInt8]?, signatures: [UInt8]?, keepsRedacts: Bool = true) -> [UInt8] {
    var writer = JSONWriter(capacity: content.count + authEvents.count + prevEvents.count + 768)
    writer.object { writer in
      writer.member("auth_events", raw: authEvents)
      writer.member("content", raw: content)
      writer.member("depth", draft.depth)
      if let hashes { writer.member("hashes", raw: hashes) }
      writer.member("origin_server_ts", draft.originServerTimestamp)
      writer.member("prev_events", raw: prevEvents)
      if keepsRedacts, let redacts { writer.member("redacts", redacts) }
      if let roomID = draft.roomID { writer.member("room_id", roomID) }
      writer.member("sender", draft.sender)
      if let signatures { writer.member("signatures", raw: signatures) }
      if let stateKey = draft.stateKey { writer.member("state_key", stateKey) }
      writer.member("type", draft.type)
    }
    return writer.bytes
  }

  func fragments(content: [UInt8], hashes: [UInt8], signatures: [UInt8]) -> EventFragments {
    var client = JSONWriter(capacity: content.count + 256)
    client.member("content", raw: content)
    client.member("origin_server_ts", draft.originServerTimestamp)
    if let redacts { client.member("redacts", redacts) }
    client.member("sender", draft.sender)
    if let stateKey = draft.stateKey { client.member("state_key", stateKey) }
    client.member("type", draft.type)

    var federation = JSONWriter(capacity: authEvents.count + prevEvents.count + 384)
    federation.member("auth_events", raw: authEvents)
    federation.member("depth", draft.depth)
    federation.member("hashes", raw: hashes)
    federation.member("prev_events", raw: prevEvents)
    federation.member("signatures", raw: signatures)
    return EventFragments(client: client.bytes, federation: federation.bytes)
  }

  private static func list(_ events: [EventID]) -> [UInt8] {
    var writer = JSONWriter(capacity: events.count * 48 + 2)
    writer.array { writer in
      for event in events { writer.write(event) }
    }
    return writer.bytes
  }
}
