import Database
import JSON
import MatrixModel
import ServerAccounts

/// What events say of each other, for reading: children of an event, threads of a room, single events with what relates to them.
///
/// Relations are kept by `RoomEditor` in the commit of the event that has one. Spec: Client-Server API, "Forming relationships
/// between events".
package final class Relations: Sendable {
  /// An event and what it tells of those that relate to it.
  package struct Shown: Sendable {
    package let view: RoomView
    package let event: StoredEvent
    package let aggregations: Aggregations
  }

  /// Relations followed with `recurse`. Spec: "at least 3 levels".
  package static let depthLimit = 3
  /// Events of one answer: at most, and where the request does not say.
  package static let pageLimit = 500
  package static let pageDefault = 50

  private let database: Database
  let rooms: Rooms

  package init(database: Database, rooms: Rooms) {
    self.database = database
    self.rooms = rooms
  }

  /// The event, if it exists in the room and the user may see it.
  ///
  /// Spec: `GET /rooms/{roomId}/event/{eventId}`. Throws `M_NOT_FOUND`.
  package func event(_ eventID: EventID, in roomID: RoomID, for user: UserID) async throws -> Shown {
    try await database.read { transaction in
      let (view, event) = try self.found(eventID, in: roomID, for: user, transaction)
      let reader = AggregationReader(view: view, transaction: transaction, erasures: self.rooms.erasures)
      return Shown(view: view, event: try reader.shown(event), aggregations: try reader.aggregations(of: [event]))
    }
  }

  /// Events that relate to one, with how they do.
  package struct Query: Sendable {
    package let parent: EventID
    package let roomID: RoomID
    /// `rel_type` and type of the children; nil for any.
    package var kind: ByteString?
    package var type: EventType?
    package var from: TimelineToken?
    package var to: TimelineToken?
    package var direction = Rooms.Direction.backward
    package var limit: Int?
    /// Whether also those are told that relate by others, up to `depthLimit` relations away.
    package var recurses = false

    package init(parent: EventID, roomID: RoomID) {
      self.parent = parent
      self.roomID = roomID
    }
  }

  /// Children in the direction asked for.
  package struct Children: Sendable {
    package let view: RoomView
    package let events: [StoredEvent]
    /// Where to go on; nil where there is nothing beyond.
    package let next: TimelineToken?
    package let aggregations: Aggregations
  }

  /// Spec: `GET /rooms/{roomId}/relations/{eventId}`. Throws `M_NOT_FOUND` where the user may not see the parent.
  package func children(_ query: Query, for user: UserID) async throws -> Children {
    try await database.read { transaction in
      let (view, parent) = try self.found(query.parent, in: query.roomID, for: user, transaction)
      let ignored = try IgnoredUsers.of(user, in: transaction)
      var pager = ChildPager(view: view, parent: parent, query: query, ignored: ignored, transaction: transaction)
      try pager.run(limit: min(max(query.limit ?? Self.pageDefault, 1), Self.pageLimit))
      let reader = AggregationReader(view: view, transaction: transaction, erasures: self.rooms.erasures)
      return Children(
        view: view, events: try reader.shown(pager.events), next: pager.next,
        aggregations: try reader.aggregations(of: pager.events, ignoring: ignored))
    }
  }

  private func found(
    _ eventID: EventID, in roomID: RoomID, for user: UserID, _ transaction: ReadTransaction
  ) throws -> (RoomView, StoredEvent) {
    guard let view = try? rooms.view(of: roomID, for: user, in: transaction),
      let event = try view.event(eventID, in: transaction)
    else { throw MatrixError.notFound("There is no such event, or you may not see it.") }
    return (view, event)
  }

  // MARK: Threads

  /// Roots of a room's threads, those with the newest message first.
  package struct Threads: Sendable {
    package let view: RoomView
    package let roots: [StoredEvent]
    package let next: TimelineToken?
    package let aggregations: Aggregations
  }

  /// Threads of one answer: at most, and where the request does not say.
  package static let threadsLimit = 100
  package static let threadsDefault = 20

  /// Spec: `GET /rooms/{roomId}/threads`. Throws `M_FORBIDDEN`.
  package func threads(
    of roomID: RoomID, for user: UserID, onlyParticipated: Bool, from: TimelineToken?, limit: Int?
  ) async throws -> Threads {
    try await database.read { transaction in
      // An ignored user's thread is listed, its root reduced.
      let view = try self.rooms.view(of: roomID, for: user, in: transaction, hidesIgnored: false)
      var pager = ThreadPager(
        reader: AggregationReader(view: view, transaction: transaction, erasures: self.rooms.erasures),
        ignored: try IgnoredUsers.of(user, in: transaction), onlyParticipated: onlyParticipated)
      try pager.run(from: from, limit: min(max(limit ?? Self.threadsDefault, 1), Self.threadsLimit))
      return Threads(
        view: view, roots: try pager.reader.shown(pager.roots), next: pager.next, aggregations: try pager.aggregations())
    }
  }
}
