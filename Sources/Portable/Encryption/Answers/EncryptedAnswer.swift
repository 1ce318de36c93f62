import JSON
import MatrixModel
import Olm

/// An answer of the server, and what in it is for the machine. Once that has dealt with it, the answer is written anew with clear events in the
/// place of encrypted ones; who reads it then needs to know nothing of encryption.
package struct EncryptedAnswer: Sendable {
  /// Of an event that was encrypted, in the rewritten answer. What a server sends under this name is left out.
  package static let mark: StaticString = "martlet.decrypted"
  /// In the content of an event that cannot be read: `Undecryptable.name`. Likewise.
  package static let reason: StaticString = "martlet.undecryptable"

  private let json: JSON
  private let room: RoomID?
  /// Whether it is a record of this side, whose marks are right.
  private let isRecord: Bool
  /// Of a sync.
  package let keys: SyncedKeys?
  /// `m.room.encryption` of rooms, in order.
  package private(set) var encryption: [(room: RoomID, content: JSON)] = []
  /// Rooms of which somebody left; nobody is named where that may have happened unseen.
  package private(set) var departures: [(room: RoomID, users: [UserID])] = []
  package private(set) var events: [EncryptedEvent] = []
  /// Messages of verifications in clear text.
  package private(set) var verifications: [VerificationMessage] = []
  /// Of a record: events that were read before it was known how far they are proven.
  package private(set) var unproven: [UnprovenEvent] = []
  /// Rooms of a sync with new messages in clear text.
  package private(set) var clearRooms: Set<RoomID> = []
  /// Those of `clearRooms` that were encrypted before: their messages are marked.
  private var markedRooms: Set<RoomID> = []
  private var proven: [UnprovenEvent.Name: SenderTrust] = [:]
  /// Whether a server sends what only this side may write.
  private var hasForeignMarks = false

  /// - Parameters:
  ///   - target: path and query of the request.
  ///   - json: the answer, or a stored record of a timeline.
  package init(_ json: JSON, to target: String) {
    self.json = json
    isRecord = false
    let parts = Array(target.utf8).split(separator: UInt8(ascii: "?"))
    let path = parts.first.map { Array($0) } ?? []
    room = Self.room(inPath: path)
    let hasToken = parts.dropFirst().joined().split(separator: UInt8(ascii: "&")).contains {
      $0.starts(with: "since=".utf8) || $0.starts(with: "pos=".utf8)
    }
    keys = SyncedKeys(json, path: path, isFirst: !hasToken)
    visit(json, room)
    guard keys != nil else { return }
    for (id, room) in Self.rooms(ofSync: json) {
      readState(of: id, room)
      // Anything else may bring what is older than the room's encryption.
      if hasToken, !Self.isLimited(room), !(room.bool("initial") ?? false),
        Self.timeline(of: room).contains(where: Self.isClear)
      {
        clearRooms.insert(id)
      }
    }
  }

  /// - Parameter room: whose timeline it is.
  package init(record json: JSON, of room: RoomID) {
    self.json = json
    self.room = room
    isRecord = true
    keys = nil
    visit(json, room)
  }

  /// Whether the machine has nothing to do with it.
  package var isPlain: Bool { keys == nil && events.isEmpty && !hasForeignMarks }

  /// More is known of one of `unproven`.
  package mutating func set(_ trust: SenderTrust, of event: UnprovenEvent) {
    if trust != event.trust { proven[event.name] = trust }
  }

  /// Whether a record has nothing to be read or changed.
  package var isSettled: Bool { events.isEmpty && proven.isEmpty }

  /// - Parameter rooms: those of `clearRooms` that were encrypted before this answer.
  package mutating func markClearText(in rooms: Set<RoomID>) { markedRooms = rooms }

  /// `/_matrix/client/v3/rooms/ROOM/…`
  private static func room(inPath path: [UInt8]) -> RoomID? {
    let parts = path.split(separator: UInt8(ascii: "/"))
    guard parts.count > 4, parts[3].elementsEqual("rooms".utf8), let id = PercentEncoding.decode(parts[4]) else { return nil }
    return RoomID(ByteString(decoding: id))
  }

  // MARK: Events

  /// - Parameter depth: of what it stands in.
  private mutating func visit(_ json: JSON, _ room: RoomID?, depth: Int = 0) {
    guard depth < EncryptionLimits.depthOfEvents else { return }
    if json.isArray { for element in json.elements { visit(element, room, depth: depth + 1) } }
    guard json.isObject else { return }
    if let event = Self.encrypted(json, in: room) { events.append(event) }
    if keys != nil, let message = Self.verification(json, in: room) { verifications.append(message) }
    if isRecord, let event = UnprovenEvent(json) { unproven.append(event) }
    let isEvent = Self.isEvent(json)
    for member in json.members {
      if !isRecord, Self.isMark(member) { hasForeignMarks = true }
      if Self.mayHoldEvents(member, ofEvent: isEvent) {
        visit(member.value, RoomID(keyOf: member) ?? room, depth: depth + 1)
      } else if !isRecord, member.value.members.contains(where: { Self.isMark($0) }) {
        hasForeignMarks = true
      }
    }
  }

  private static func isEvent(_ json: JSON) -> Bool { json["type"]?.isString ?? false && json["content"]?.isObject ?? false }

  /// Whether events of the server may stand in the member. Of an event the sender chooses everything else: what looks like an event there is none, or
  /// one could speak in the name of others.
  private static func mayHoldEvents(_ member: JSON.Member, ofEvent isEvent: Bool) -> Bool {
    isEvent ? member.isKey("unsigned") : !member.isKey("content") && !member.isKey("prev_content")
  }

  private static func encrypted(_ json: JSON, in room: RoomID?) -> EncryptedEvent? {
    guard let type = json["type"], type.isString("m.room.encrypted"), let room = room ?? RoomID(json["room_id"]),
      let event = Event(json)
    else { return nil }
    return try? EncryptedEvent(event, in: room)
  }

  private static func verification(_ json: JSON, in room: RoomID?) -> VerificationMessage? {
    guard let room, let type = json["type"], VerificationMessage.mayBe(type, json["content"]), let event = Event(json),
      let id = event.eventID, let sender = event.sender
    else { return nil }
    return VerificationMessage(
      event.type, event.content, event: id, in: room, from: sender, at: event.originServerTimestamp ?? 0)
  }

  private static func isMark(_ member: JSON.Member) -> Bool { member.isKey(mark) || member.isKey(reason) }

  /// Whether it is an event that would have been encrypted in an encrypted room. State, reactions and redactions never are.
  private static func isClear(_ json: JSON) -> Bool {
    guard let type = json.text("type"), json["event_id"] != nil, json["state_key"] == nil else { return false }
    return type != EventType.encrypted.text && type != EventType.reaction.text && type != EventType.redaction.text
  }

  // MARK: Rooms of a sync

  private static func rooms(ofSync json: JSON) -> [(RoomID, JSON)] {
    let rooms = json["rooms"]
    var found: [(RoomID, JSON)] = []
    for section in [rooms?["join"], rooms?["leave"], rooms] {
      for member in section?.members.map({ $0 }) ?? [] {
        if let id = RoomID(keyOf: member) { found.append((id, member.value)) }
      }
    }
    return found
  }

  private static func isLimited(_ room: JSON) -> Bool { room["timeline"]?.bool("limited") ?? room.bool("limited") ?? false }

  private static func timeline(of room: JSON) -> [JSON] {
    let timeline = room["timeline"]
    return (timeline?["events"] ?? timeline)?.elements.map { $0 } ?? []
  }

  private mutating func readState(of id: RoomID, _ room: JSON) {
    var departed: [UserID] = []
    let lists = [room["state"]?["events"], room["state_after"]?["events"], room["required_state"]].map { list in
      list?.elements.map { $0 } ?? []
    }
    for list in lists + [Self.timeline(of: room)] {
      for json in list {
        guard let event = Event(json), let key = event.stateKey else { continue }
        if event.type == .encryption, key.isEmpty { encryption.append((id, event.content)) }
        guard event.type == .member, let user = UserID(key), let membership = Membership(event.content["membership"]),
          membership == .leave || membership == .ban
        else { continue }
        departed.append(user)
      }
    }
    if Self.isLimited(room) || !departed.isEmpty { departures.append((id, departed)) }
  }

  // MARK: Rewriting

  /// The answer with what could be decrypted, and with the reasons where something could not.
  package func rewritten(_ decrypted: [DecryptedEvent]) -> [UInt8] {
    // As it is with most answers.
    guard !decrypted.isEmpty || hasForeignMarks || !markedRooms.isEmpty || !proven.isEmpty else { return Array(json.bytes) }
    // A server can give several events one ID: each gets what was in itself.
    var outcomes: [EventID: [DecryptedEvent]] = [:]
    for event in decrypted { outcomes[event.event.id, default: []].append(event) }
    var writer = JSONWriter(capacity: json.bytes.count + 256 * outcomes.count)
    write(json, room, outcomes, to: &writer)
    return writer.bytes
  }

  private func write(
    _ json: JSON, _ room: RoomID?, _ outcomes: [EventID: [DecryptedEvent]], depth: Int = 0, to writer: inout JSONWriter
  ) {
    guard depth < EncryptionLimits.depthOfEvents else { return writer.write(json) }
    if json.isArray {
      writer.array { writer in for element in json.elements { write(element, room, outcomes, depth: depth + 1, to: &writer) } }
    } else if json.isObject {
      let outcome = Self.encrypted(json, in: room).flatMap { event in outcomes[event.id]?.first { $0.event.isSame(as: event) } }
      let trust = proven.isEmpty ? nil : UnprovenEvent(json).flatMap { proven[$0.name] }
      let isEvent = Self.isEvent(json)
      writer.object { writer in
        for member in json.members where keeps(member, outcome) {
          writer.key(member.key)
          if let outcome, write(member, outcome, to: &writer) { continue }
          if let trust, member.isKey(Self.mark) {
            Self.write(member.value, trust, to: &writer)
            continue
          }
          if Self.mayHoldEvents(member, ofEvent: isEvent) {
            let value = outcome?.clear == nil ? member.value : Self.withoutClearEdit(member.value)
            if let value {
              write(value, RoomID(keyOf: member) ?? room, outcomes, depth: depth + 1, to: &writer)
            } else {
              writer.null()
            }
          } else {
            writeWithoutMarks(member.value, to: &writer)
          }
        }
        if let outcome, let clear = outcome.clear {
          Self.write(clear, outcome.trust, to: &writer)
        } else if let room, markedRooms.contains(room), Self.isClear(json) {
          Self.writeClearMark(to: &writer)
        }
      }
    } else {
      writer.write(json)
    }
  }

  /// The `unsigned` of an event that was encrypted, without an edit in clear text that the server has sent along: nothing shows that it is the
  /// sender's. nil if it cannot be written.
  private static func withoutClearEdit(_ unsigned: JSON) -> JSON? {
    guard let relations = unsigned["m.relations"], let edit = relations["m.replace"],
      !(edit["type"]?.isString("m.room.encrypted") ?? false)
    else { return unsigned }
    let rest = try? relations.replacing(["m.replace"]) { _ in }
    return try? unsigned.replacing(["m.relations"]) { writer in if let rest { writer.member("m.relations", rest) } }
  }

  /// What a sender wrote. Nobody looks for a mark deeper in it.
  private func writeWithoutMarks(_ json: JSON, to writer: inout JSONWriter) {
    guard !isRecord, json.members.contains(where: { Self.isMark($0) }) else { return writer.write(json) }
    writer.object { writer in
      for member in json.members where !Self.isMark(member) {
        writer.key(member.key)
        writer.write(member.value)
      }
    }
  }

  private func keeps(_ member: JSON.Member, _ outcome: DecryptedEvent?) -> Bool {
    isRecord ? outcome == nil || !member.isKey(Self.mark) : !Self.isMark(member)
  }

  /// What is different in an event that was encrypted.
  private func write(_ member: JSON.Member, _ outcome: DecryptedEvent, to writer: inout JSONWriter) -> Bool {
    switch outcome.outcome {
    case .success(let clear):
      if member.isKey("type") {
        writer.write(clear.type.text)
      } else if member.isKey("content") {
        writer.write(clear.content)
      } else {
        return false
      }
    case .failure(let reason):
      guard member.isKey("content") else { return false }
      writer.object { writer in
        for inner in member.value.members where !inner.isKey(Self.reason) {
          writer.key(inner.key)
          writer.write(inner.value)
        }
        writer.member(Self.reason, reason.name)
      }
    }
    return true
  }

  /// A mark with another trust.
  private static func write(_ mark: JSON, _ trust: SenderTrust, to writer: inout JSONWriter) {
    writer.object { writer in
      for member in mark.members where !member.isKey("trust") {
        writer.key(member.key)
        writer.write(member.value)
      }
      writer.member("trust", trust.name)
    }
  }

  private static func writeClearMark(to writer: inout JSONWriter) {
    writer.key(mark)
    writer.object { $0.member("trust", "unencrypted") }
  }

  static func write(_ clear: ClearEvent, _ trust: SenderTrust?, to writer: inout JSONWriter) {
    writer.key(mark)
    writer.object { writer in
      switch clear.origin {
      case .proven(let owner):
        writer.member("sender_key", ByteString(decoding: owner.identity.text))
        writer.member("proven", true)
      case .claimed(let identity):
        writer.member("sender_key", ByteString(decoding: identity.text))
        writer.member("proven", false)
      }
      if let giver = clear.giver { writer.member("giver", giver) }
      if let trust { writer.member("trust", trust.name) }
    }
  }
}

extension RoomID {
  /// A member of an object of rooms.
  fileprivate init?(keyOf member: JSON.Member) {
    guard member.value.isObject, member.key.utf8.first == UInt8(ascii: "!") else { return nil }
    self.init(member.key)
  }
}
