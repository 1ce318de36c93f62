import JSON
import MatrixModel

/// A persistent data unit: one full, signed event, its format checked, its ID derived from its hash.
///
/// The bytes are canonical, so parts of them can be hashed and spliced as they are. Spec: Server-Server API, "PDUs".
package struct PDU: RoomEvent {
  package let version: RoomVersion
  package let eventID: EventID
  /// The room, also for a create event that does not name it.
  package let roomID: RoomID
  package let namedRoomID: RoomID?
  package let type: EventType
  package let sender: UserID
  package let stateKey: ByteString?
  package let content: JSON
  package let depth: Int64
  /// Milliseconds since 1970 by the sending server's clock: a claim, not a fact.
  package let originServerTimestamp: Int64
  package let prevEvents: [EventID]
  package let authEvents: [EventID]
  /// The whole event, canonical, without `unsigned`.
  package let json: JSON
  /// Whether the rules refuse the event. Such events stay in the graph, but never get into state.
  ///
  /// Initially true for events that are too large only by the bytes of a field (`EventLimits.fieldCharacters`), else false. The
  /// caller that checks the rules sets it.
  package var isRejected: Bool

  /// Reads an event from another server or a client of the federation API and derives its ID.
  ///
  /// Neither the content hash nor signatures are verified: see `hasValidContentHash` and `EventSignatures`.
  /// - Throws: `EventFormatError` for everything that is not an event of this room version.
  package init(_ bytes: [UInt8], version: RoomVersion) throws(EventFormatError) {
    let received: JSON
    do throws(JSONError) { received = try JSON.parse(bytes) } catch { throw .syntax(error) }
    try self.init(received, version: version)
  }

  /// Reads an event that stands in a larger JSON value.
  package init(_ received: JSON, version: RoomVersion) throws(EventFormatError) {
    guard received.isObject else { throw .field("event") }
    let whole: [UInt8]
    do throws(JSONError) { whole = try received.canonical() } catch { throw .notCanonical }
    guard whole.count <= EventLimits.bytes else { throw .tooLarge(bytes: whole.count) }
    try self.init(canonical: received["unsigned"] == nil ? whole : Self.withoutUnsigned(received), version: version)
  }

  /// Takes an event from our own storage: canonical bytes without `unsigned`, its ID known.
  ///
  /// - Throws: `EventFormatError` where the storage holds something else.
  package init(stored bytes: [UInt8], eventID: EventID, version: RoomVersion) throws(EventFormatError) {
    try self.init(canonical: bytes, version: version, knownID: eventID)
  }

  private init(canonical bytes: [UInt8], version: RoomVersion, knownID: EventID? = nil) throws(EventFormatError) {
    let event: JSON
    do throws(JSONError) { event = try JSON.parse(bytes) } catch { throw .syntax(error) }
    let fields = try EventFields(event, version: version)
    json = event
    self.version = version
    type = fields.type
    sender = fields.sender
    stateKey = fields.stateKey
    content = fields.content
    depth = fields.depth
    originServerTimestamp = fields.originServerTimestamp
    prevEvents = fields.prevEvents
    authEvents = fields.authEvents
    isRejected = fields.isOversized
    namedRoomID = fields.roomID
    eventID = knownID ?? EventID(hash: Self.referenceHash(of: event, type: fields.type, version: version))
    roomID = fields.roomID ?? RoomID(createEvent: eventID)
  }

  /// The event that this redaction redacts; nil for every other type.
  package var redacts: EventID? {
    guard type == .redaction else { return nil }
    return EventID(version.redactsInContent ? content["redacts"] : json["redacts"])
  }

  /// The whole event in canonical JSON, as other servers get it.
  package var bytes: ArraySlice<UInt8> { json.bytes }

  /// The same event after a redaction: same ID, same hashes and signatures, less content.
  ///
  /// - Throws: never for an event that this type accepted; redaction keeps every required field.
  package func redacted() throws(EventFormatError) -> PDU {
    var redacted = try PDU(stored: version.redaction.redacted(json, type: type), eventID: eventID, version: version)
    redacted.isRejected = isRejected
    return redacted
  }

  private static func withoutUnsigned(_ received: JSON) throws(EventFormatError) -> [UInt8] {
    do throws(JSONError) { return try received.canonical(leavingOut: ["unsigned"]) } catch { throw .notCanonical }
  }
}

// MARK: - Hashes

extension PDU {
  /// Whether `hashes.sha256` is the hash of the event. Where it is not, only the redacted event may be used.
  ///
  /// Spec: Server-Server API, "Calculating the content hash for an event".
  package var hasValidContentHash: Bool {
    guard let claimed = json["hashes"]?["sha256"]?.text, let hash = UnpaddedBase64.decode(claimed.utf8) else {
      return false
    }
    return hash == Self.contentHash(of: json)
  }

  static func contentHash(of event: JSON) -> [UInt8] {
    SHA256.digest(of: event.splice(leavingOut: ["hashes", "signatures", "unsigned"]))
  }

  /// Spec: Server-Server API, "Calculating the reference hash for an event".
  static func referenceHash(of event: JSON, type: EventType, version: RoomVersion) -> [UInt8] {
    SHA256.digest(of: version.redaction.redacted(event, type: type, leavingOut: ["signatures"]))
  }
}

extension JSON {
  /// The object with its members' bytes as they are, but for those left out. Canonical where the object is.
  func splice(leavingOut omitted: [StaticString]) -> [UInt8] {
    var writer = JSONWriter(capacity: bytes.count)
    writer.object { writer in
      for member in members where !omitted.contains(where: member.isKey) {
        writer.key(member.key)
        writer.write(member.value)
      }
    }
    return writer.bytes
  }
}
