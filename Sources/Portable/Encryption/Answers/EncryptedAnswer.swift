import JSON
import MatrixModel
import Olm

/// An answer of the server, and what in it is for the machine. Once that has dealt with it, the answer is written anew with clear events in the
/// place of encrypted ones; who reads it then needs to know nothing of encryption.
package struct EncryptedAnswer: Sendable {
  /// Of an event that was encrypted, in the rewritten answer. What a server sends under this name is left out.
  package static let mark: StaticString = "martlet.decrypted"

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
    if keys != nil { for (id, room) in Self.rooms(ofSync: json) { readState(of: id, room) } }
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

  /// `/_matrix/client/v3/rooms/ROOM/…`
  private static func room(inPath path: [UInt8]) -> RoomID? {
    let parts = path.split(separator: UInt8(ascii: "/"))
    guard parts.count > 4, parts[3].elementsEqual("rooms".utf8), let id = PercentEncoding.decode(parts[4]) else { return nil }
    return RoomID(ByteString(decoding: id))
  }

  // MARK: Events

  private mutating func visit(_ json: JSON, _ room: RoomID?) {
    if json.isArray { for element in json.elements { visit(element, room) } }
    guard json.isObject else { return }
    if let event = Self.encrypted(json, in: room) { events.append(event) }
    if keys != nil, let message = Self.verification(json, in: room) { verifications.append(message) }
    for member in json.members {
      if !isRecord, member.isKey(Self.mark) { hasForeignMarks = true }
      visit(member.value, RoomID(keyOf: member) ?? room)
    }
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

  private mutating func readState(of id: RoomID, _ room: JSON) {
    var departed: [UserID] = []
    let timeline = room["timeline"]
    let lists = [
      room["state"]?["events"], room["state_after"]?["events"], room["required_state"], timeline?["events"] ?? timeline
    ]
    for list in lists {
      for json in list?.elements.map({ $0 }) ?? [] {
        guard let event = Event(json), let key = event.stateKey else { continue }
        if event.type == .encryption, key.isEmpty { encryption.append((id, event.content)) }
        guard event.type == .member, let user = UserID(key), let membership = Membership(event.content["membership"]),
          membership == .leave || membership == .ban
        else { continue }
        departed.append(user)
      }
    }
    let isLimited = timeline?.bool("limited") ?? room.bool("limited") ?? false
    if isLimited || !departed.isEmpty { departures.append((id, departed)) }
  }

  // MARK: Rewriting

  /// The answer with what could be decrypted.
  package func rewritten(_ decrypted: [DecryptedEvent]) -> [UInt8] {
    var clear: [EventID: DecryptedEvent] = [:]
    for event in decrypted where event.clear != nil { clear[event.event.id] = event }
    // As it is with most answers.
    guard !clear.isEmpty || hasForeignMarks else { return Array(json.bytes) }
    var writer = JSONWriter(capacity: json.bytes.count + 256 * clear.count)
    write(json, room, clear, to: &writer)
    return writer.bytes
  }

  private func write(_ json: JSON, _ room: RoomID?, _ clear: [EventID: DecryptedEvent], to writer: inout JSONWriter) {
    if json.isArray {
      writer.array { writer in for element in json.elements { write(element, room, clear, to: &writer) } }
    } else if json.isObject {
      let decrypted = Self.encrypted(json, in: room).flatMap { clear[$0.id] }, event = decrypted?.clear
      writer.object { writer in
        for member in json.members where isRecord || !member.isKey(Self.mark) {
          writer.key(member.key)
          if let event, member.isKey("type") {
            writer.write(event.type.text)
          } else if let event, member.isKey("content") {
            writer.write(event.content)
          } else {
            write(member.value, RoomID(keyOf: member) ?? room, clear, to: &writer)
          }
        }
        if let event { Self.write(event.origin, decrypted?.trust, to: &writer) }
      }
    } else {
      writer.write(json)
    }
  }

  static func write(_ origin: RoomKey.Origin, _ trust: SenderTrust?, to writer: inout JSONWriter) {
    writer.key(mark)
    writer.object { writer in
      switch origin {
      case .proven(let owner):
        writer.member("sender_key", ByteString(decoding: owner.identity.text))
        writer.member("proven", true)
      case .claimed(let identity):
        writer.member("sender_key", ByteString(decoding: identity.text))
        writer.member("proven", false)
      }
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

extension SyncedKeys {
  /// nil where it is no sync.
  fileprivate init?(_ json: JSON, path: [UInt8], isFirst: Bool) {
    guard let last = path.split(separator: UInt8(ascii: "/")).last, last.elementsEqual("sync".utf8) else { return nil }
    self.init()
    let extensions = json["extensions"], encryption = extensions?["e2ee"] ?? json
    toDevice = (extensions ?? json)["to_device"]?["events"]?.elements.map { $0 } ?? []
    changed = encryption["device_lists"]?["changed"]?.elements.compactMap { UserID($0) } ?? []
    left = encryption["device_lists"]?["left"]?.elements.compactMap { UserID($0) } ?? []
    keyCounts = encryption["device_one_time_keys_count"]
    unusedFallbacks = encryption["device_unused_fallback_key_types"]
    hasGap = isFirst
  }
}
