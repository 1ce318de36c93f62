import JSON
import MatrixModel

/// A room or space as a child of a space: `m.space.child`. Spec: Client-Server API, "Spaces".
public struct SpaceChild: Sendable, Hashable {
  public let roomID: RoomID
  /// That one can join through.
  public let servers: [ServerName]
  /// Whether the space's owners think that everybody should join it.
  public let isSuggested: Bool
  /// At most 50 characters from space to `~`; nil if it is missing or not valid. Children without one stand behind the others.
  public let order: ByteString?
  /// When it was put in or changed last, in milliseconds since 1970.
  public let addedAtMilliseconds: Int64

  /// Spec: "Ordering of children within a space".
  public static func < (left: SpaceChild, right: SpaceChild) -> Bool {
    switch (left.order, right.order) {
    case (let a?, let b?): if a != b { return a < b }
    case (_?, nil): return true
    case (nil, _?): return false
    case (nil, nil): break
    }
    if left.addedAtMilliseconds != right.addedAtMilliseconds {
      return left.addedAtMilliseconds < right.addedAtMilliseconds
    }
    return left.roomID < right.roomID
  }
}

extension SpaceChild {
  /// Returns nil if the event removes the child: a child needs `via`.
  package init?(_ event: JSON) {
    guard let room = RoomID(event["state_key"]), let content = event["content"] else { return nil }
    self.init(room, content, at: event.integer("origin_server_ts") ?? 0)
  }

  package init?(_ room: RoomID, _ content: JSON, at timestamp: Int64) {
    guard let via = content["via"], via.isArray else { return nil }
    roomID = room
    servers = Array(via.elements.compactMap { ServerName($0) }.prefix(ContentLimits.spaceServers))
    isSuggested = content.bool("suggested") ?? false
    order = content["order"]?.text.flatMap { SpaceOrder.isValid($0) ? $0 : nil }
    addedAtMilliseconds = timestamp
  }
}
