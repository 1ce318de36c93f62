import JSON
import MatrixModel

/// A space that a room says it belongs to: `m.space.parent`.
public struct SpaceParent: Sendable, Hashable {
  public let roomID: RoomID
  public let servers: [ServerName]
  /// Whether it is the main one.
  public let isCanonical: Bool
  /// Who says so; has to be one who might put rooms into that space.
  public let sender: UserID
}

/// What a room's state says about spaces.
struct SpaceState: Sendable {
  /// Of the room: `m.space` for spaces.
  var type: ByteString?
  var children: [RoomID: SpaceChild] = [:]
  var parents: [SpaceParent] = []

  static let spaceType: ByteString = "m.space"

  /// Nobody but those who may put rooms in says anything there. Spec: "Managing rooms/spaces included in a space".
  static let powerLevels = Array(#"{"events_default":100}"#.utf8)

  var isSpace: Bool { type == SpaceState.spaceType }

  /// Whether the event says anything about spaces.
  mutating func take(_ event: Event, _ stateKey: ByteString) -> Bool {
    switch event.type {
    case .create:
      guard stateKey.isEmpty else { return false }
      type = event.content.text("type")
      return type != nil
    case .spaceChild:
      guard let room = RoomID(stateKey) else { return false }
      let child = SpaceChild(room, event.content, at: event.originServerTimestamp ?? 0)
      if child != nil, children[room] == nil, children.count >= Limits.spaceChildren { return false }
      children[room] = child
      return true
    case .spaceParent:
      guard let room = RoomID(stateKey), let sender = event.sender else { return false }
      parents.removeAll { $0.roomID == room }
      guard let via = event.content["via"], via.isArray, parents.count < Limits.spaceParents else { return true }
      parents.append(
        SpaceParent(
          roomID: room, servers: Array(via.elements.compactMap { ServerName($0) }.prefix(ContentLimits.spaceServers)),
          isCanonical: event.content.bool("canonical") ?? false, sender: sender))
      return true
    default: return false
    }
  }

  // MARK: Record

  func write(to writer: inout JSONWriter) {
    if let type { writer.member("type", type) }
    if !children.isEmpty {
      writer.array("children", children.keys.ordered()) { room, writer in
        if let child = children[room] { child.write(to: &writer) }
      }
    }
    if !parents.isEmpty { writer.array("parents", parents) { $0.write(to: &$1) } }
  }

  init() {}

  init(record: JSON) {
    type = record.text("type")
    if let stored = record["children"] {
      for json in stored.elements.prefix(Limits.spaceChildren) {
        guard let room = RoomID(json["room"]) else { continue }
        children[room] = SpaceChild(room, json, at: json.integer("time") ?? 0)
      }
    }
    guard let stored = record["parents"] else { return }
    for json in stored.elements.prefix(Limits.spaceParents) {
      guard let room = RoomID(json["room"]), let sender = UserID(json["sender"]) else { continue }
      let servers = json["via"]?.elements.compactMap { ServerName($0) } ?? []
      parents.append(
        SpaceParent(
          roomID: room, servers: servers, isCanonical: json.bool("canonical") ?? false, sender: sender))
    }
  }
}

extension SpaceChild {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("room", roomID)
      writer.array("via", servers) { $1.write($0) }
      if isSuggested { writer.member("suggested", true) }
      if let order { writer.member("order", order) }
      writer.member("time", addedAtMilliseconds)
    }
  }
}

extension SpaceParent {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("room", roomID)
      writer.array("via", servers) { $1.write($0) }
      if isCanonical { writer.member("canonical", true) }
      writer.member("sender", sender)
    }
  }
}

extension Room {
  /// `m.space` for spaces; nil for plain rooms.
  public var type: ByteString? { state.space.type }
  public var isSpace: Bool { state.space.isSpace }
  /// What the space says is in it, known here or not, in the order of the specification. O(children · log children).
  public var spaceChildren: [SpaceChild] { state.space.children.values.ordered { $0 < $1 } }
  /// Spaces that the room says it belongs to; `SpaceGraph.parents(of:)` has those that count.
  public var spaceParents: [SpaceParent] { state.space.parents }
}

extension NewRoom {
  /// `type` of a space.
  public static var spaceType: ByteString { SpaceState.spaceType }

  /// A space: a room that others are put into.
  public static func space(
    preset: Preset = .privateChat, name: ByteString, topic: ByteString? = nil, aliasLocalpart: ByteString? = nil,
    invited: [UserID] = []
  ) -> NewRoom {
    var room = NewRoom(preset: preset, name: name, topic: topic, aliasLocalpart: aliasLocalpart, invited: invited)
    room.type = SpaceState.spaceType
    return room
  }
}
