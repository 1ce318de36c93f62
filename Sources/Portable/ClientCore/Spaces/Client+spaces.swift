import JSON
import MatrixModel

/// How a room stands in a space. What is nil stays as it is; a room that is put in has no order and is not suggested.
public struct SpaceChildChange: Sendable, Hashable {
  /// At most 50 characters from space to `~`; empty for none. `Client.spaceOrders` finds them.
  public var order: ByteString?
  public var isSuggested: Bool?
  /// That one can join through; nil for the server of the account and those the room is known by.
  public var servers: [ServerName]?

  public init(order: ByteString? = nil, isSuggested: Bool? = nil, servers: [ServerName]? = nil) {
    self.order = order
    self.isSuggested = isSuggested
    self.servers = servers
  }
}

extension SpaceChildChange {
  fileprivate func replaces(_ member: JSON.Member) -> Bool {
    member.isKey("via") || (member.isKey("order") && order != nil) || (member.isKey("suggested") && isSuggested != nil)
  }
}

extension Client {
  /// Roots of the tree of spaces: first those that the user has put in an order (`topLevelSpaceOrders`), then the others by their names.
  public var topLevelSpaces: [RoomID] {
    let roots = spaces.roots.map { id in
      (id: id, order: rooms[id]?.state.marks.spaceOrder, name: FoldedText(rooms[id]?.name.english ?? ""))
    }
    return roots.ordered { one, other in
      switch (one.order, other.order) {
      case (let order?, let after?) where order != after: order < after
      case (_?, nil): true
      case (nil, _?): false
      default: one.name == other.name ? one.id < other.id : one.name < other.name
      }
    }.map { $0.id }
  }

  /// The orders that make the space the one at that index of `topLevelSpaces`, as few as it takes: `Query.setSpaceOrder` sets them.
  /// - Parameter index: in the list without the space; one beyond its end is the end.
  public func topLevelSpaceOrders(toMove space: RoomID, to index: Int) -> [(space: RoomID, order: ByteString)] {
    let all = topLevelSpaces.map { (room: $0, order: rooms[$0]?.state.marks.spaceOrder) }
    return Self.orders(toMove: space, to: index, among: all).map { (space: $0.room, order: $0.order) }
  }

  /// The joined rooms that are in no space, in the order of `roomIDs`.
  public var orphanRooms: [RoomID] {
    roomIDs.filter { id in
      guard let room = rooms[id] else { return false }
      return room.membership == .join && !room.isSpace && !spaces.isInSpace(id)
    }
  }

  /// The main one of the spaces that the room says it belongs to and that count; nil where it names none as such.
  public func canonicalParent(of room: RoomID) -> RoomID? {
    let valid = spaces.parents(of: room)
    return rooms[room]?.spaceParents.filter { $0.isCanonical && valid.contains($0.roomID) }.map { $0.roomID }.min()
  }

  /// The orders that make the child the one at that index of the space's children, as few as it takes; empty where it stands there.
  /// - Parameter index: in the list without the child; one beyond its end is the end.
  public func spaceOrders(toMove child: RoomID, to index: Int, in space: RoomID) -> [(child: RoomID, order: ByteString)] {
    let children = (rooms[space]?.spaceChildren ?? []).map { (room: $0.roomID, order: $0.order) }
    return Self.orders(toMove: child, to: index, among: children).map { (child: $0.room, order: $0.order) }
  }

  /// - Parameter all: the rooms as they stand, with the orders that they have.
  private static func orders(
    toMove room: RoomID, to index: Int, among all: [(room: RoomID, order: ByteString?)]
  ) -> [(room: RoomID, order: ByteString)] {
    guard let moved = all.first(where: { $0.room == room }) else { return [] }
    var wanted = all.filter { $0.room != room }
    let place = max(0, min(index, wanted.count))
    wanted.insert(moved, at: place)
    if wanted.map({ $0.room }) == all.map({ $0.room }) { return [] }
    // Whatever stands before it has to have an order.
    let start = (wanted[..<place].lastIndex { $0.order != nil } ?? -1) + 1
    let low = start > 0 ? wanted[start - 1].order : nil
    let high = wanted[(place + 1)...].first?.order
    let needed = Array(wanted[start...place])
    if let orders = SpaceOrder.between(low, high, count: needed.count) {
      return zip(needed, orders).map { (room: $0.room, order: $1) }
    }
    let orders = SpaceOrder.between(nil, nil, count: wanted.count) ?? []
    return zip(wanted, orders).map { (room: $0.room, order: $1) }
  }

  // MARK: Keeping up

  /// The graph takes what has changed.
  mutating func settleSpaces() {
    let rooms = rooms
    var delta: SpaceGraph.Delta
    if roomLists.isAllChanged {
      let known = spaces.spaces
      spaces = SpaceGraph()
      delta = spaces.update(rooms.keys) { rooms[$0] }
      delta.spaces.formUnion(known)
    } else {
      delta = spaces.update(roomLists.changed) { rooms[$0] }
    }
    if !delta.spaces.isEmpty { notify(.spaces(delta.spaces.ordered())) }
    if !delta.counts.isEmpty { notify(.spaceCounts(delta.counts.ordered())) }
    if !delta.moved.isEmpty { placeInSpaces(delta.moved) }
  }

  // MARK: Commands

  /// What stands there is read anew before it is changed: another client may have changed it, or know more of it.
  mutating func changeSpaceChild(
    _ child: RoomID, in space: RoomID, _ change: SpaceChildChange?, _ id: CommandID
  ) {
    guard mayChange(.spaceChild, in: space, id) else { return }
    if let order = change?.order, !SpaceOrder.isValid(order) { return finish(id, .failed(.invalidContent)) }
    guard let change else {
      return putState(.spaceChild, in: space, key: child.text, Array("{}".utf8), id)
    }
    request(
      .getRoomStateWithKey, Endpoint.getRoomStateWithKey.path(space.text, EventType.spaceChild.text, child.text),
      for: .spaceChild(child, in: space, change, id))
  }

  mutating func spaceChildAnswered(
    _ answer: Answer, _ child: RoomID, in space: RoomID, _ change: SpaceChildChange, _ id: CommandID
  ) {
    var known: JSON?
    switch answer {
    case .success(let json): known = json
    case .refused(let error, _) where error.status == 404: break
    default: return finish(id, .failed(answer.error ?? .badAnswer))
    }
    let via = known?["via"].flatMap { $0.isArray ? $0 : nil }
    let body = JSONWriter.object { writer in
      if let known {
        for member in known.members where !change.replaces(member) {
          writer.key(member.key)
          writer.write(member.value)
        }
      }
      if let via, change.servers == nil {
        writer.member("via", via)
      } else {
        writer.array("via", change.servers ?? servers(of: child)) { $1.write($0) }
      }
      if let order = change.order, !order.isEmpty { writer.member("order", order) }
      if let isSuggested = change.isSuggested { writer.member("suggested", isSuggested) }
    }
    putState(.spaceChild, in: space, key: child.text, body, id)
  }

  mutating func setSpaceParent(_ room: RoomID, _ space: RoomID, isCanonical: Bool?, _ id: CommandID) {
    guard mayChange(.spaceParent, in: room, id) else { return }
    let body = JSONWriter.object { writer in
      guard let isCanonical else { return }
      writer.array("via", servers(of: space)) { $1.write($0) }
      if isCanonical { writer.member("canonical", true) }
    }
    putState(.spaceParent, in: room, key: space.text, body, id)
  }

  private mutating func mayChange(_ type: EventType, in room: RoomID, _ id: CommandID) -> Bool {
    guard let user = session?.userID, let known = rooms[room], known.membership == .join else {
      finish(id, .failed(.unknownRoom))
      return false
    }
    if let levels = known.powerLevels, !levels.canSend(type, isState: true, by: user) {
      finish(id, .failed(.notAllowed))
      return false
    }
    return true
  }

  private mutating func putState(
    _ type: EventType, in room: RoomID, key: ByteString, _ body: [UInt8], _ id: CommandID
  ) {
    request(
      .setRoomStateWithKey, Endpoint.setRoomStateWithKey.path(room.text, type.text, key), body: body, for: .command(id))
  }

  /// Through which others can join: the own server, the one that made the room, those of members known.
  public func servers(of room: RoomID) -> [ServerName] {
    var servers: [ServerName] = []
    if let own = session?.userID.serverName { servers.append(own) }
    let others = [room.serverName] + (rooms[room]?.members ?? []).prefix(Limits.spaceServerMembers).map { $0.userID.serverName }
    for case let server? in others where servers.count < Limits.spaceServersChosen && !servers.contains(server) {
      servers.append(server)
    }
    return servers
  }
}
