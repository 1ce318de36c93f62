import Database
import JSON
import MatrixModel

/// A place between two events of a room's timeline: `t<position>` is behind the event at that position.
package struct TimelineToken: Sendable, Equatable {
  package let position: Int64

  package init(position: Int64) { self.position = position }

  /// Reads a timeline token, or a sync token for the place that sync had reached. nil for anything else.
  package init?(_ text: ByteString) {
    guard text.hasPrefix("t") || text.hasPrefix("s") else { return nil }
    let digits = text.utf8.dropFirst().prefix { $0 != UInt8(ascii: "_") }
    guard !digits.isEmpty, digits.count <= 18, digits.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else { return nil }
    position = digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
  }

  package var text: ByteString { ByteString("t\(position)") }
}

extension Rooms {
  package enum Direction: Sendable { case backward, forward }

  /// A stretch of a timeline in the direction it was asked for.
  package struct Page: Sendable {
    package let view: RoomView
    package let events: [StoredEvent]
    package let start: TimelineToken
    /// nil for a page without events at the end of the timeline. A page with events has one, also the last: there are clients that
    /// stop at an empty page only, and begin anew without a token.
    package let end: TimelineToken?
    /// Member events of the senders, with lazy loading.
    package let members: [StoredEvent]
    package let aggregations: Aggregations
  }

  /// Events at most in one answer, and what is looked at for them when a filter drops most.
  package static let pageLimit = 1_000
  static let scanLimit = 20_000

  /// Spec: `GET /rooms/{roomId}/messages`. Throws `MatrixError`.
  package func messages(
    of roomID: RoomID, for user: UserID, from: TimelineToken?, to: TimelineToken?, _ direction: Direction, limit: Int,
    _ filter: EventFilter
  ) async throws -> Page {
    try await database.read { transaction in
      let view = try self.view(of: roomID, for: user, in: transaction)
      let newest = view.end ?? view.room.position
      let start = TimelineToken(position: from?.position ?? (direction == .backward ? newest : 0))
      var pager = Pager(view: view, loader: RoomLoader(transaction: transaction), filter: filter, direction: direction)
      try pager.run(from: start.position, to: to?.position, limit: min(max(limit, 1), Self.pageLimit))
      return Page(
        view: view,
        events: try self.erasures.shown(pager.events, to: user, in: view.room) { RoomLoader(transaction: transaction) },
        start: start, end: pager.isBeyondEnd ? nil : TimelineToken(position: pager.position),
        members: filter.lazyLoadsMembers ? Self.senders(of: pager.events, in: view.room) : [],
        aggregations: try AggregationReader(view: view, transaction: transaction, erasures: self.erasures).aggregations(
          of: pager.events))
    }
  }

  /// The event, if it exists in the room and the user may see it.
  ///
  /// Spec: `GET /rooms/{roomId}/event/{eventId}`. Throws `M_NOT_FOUND` otherwise.
  package func event(_ eventID: EventID, in roomID: RoomID, for user: UserID) async throws -> StoredEvent {
    try await eventInView(eventID, in: roomID, for: user).event
  }

  /// As `event`, with the view in which it is seen.
  package func eventInView(
    _ eventID: EventID, in roomID: RoomID, for user: UserID
  ) async throws -> (event: StoredEvent, view: RoomView) {
    try await database.read { transaction in
      let notFound = MatrixError.notFound("There is no such event, or you may not see it.")
      guard let view = try? self.view(of: roomID, for: user, in: transaction),
        let event = try view.event(eventID, in: transaction)
      else { throw notFound }
      let shown = try self.erasures.shown([event], to: user, in: view.room) { RoomLoader(transaction: transaction) }
      return (shown.first ?? event, view)
    }
  }

  /// The surroundings of an event.
  package struct Context: Sendable {
    package let view: RoomView
    package let event: StoredEvent
    /// Newest first.
    package let before: [StoredEvent]
    /// Oldest first.
    package let after: [StoredEvent]
    package let start: TimelineToken
    package let end: TimelineToken
    /// As of the last event given.
    package let state: [StoredEvent]
    package let aggregations: Aggregations
  }

  /// Spec: `GET /rooms/{roomId}/context/{eventId}`. `limit` is the number of events around, both sides together.
  package func context(
    of eventID: EventID, in roomID: RoomID, for user: UserID, limit: Int, _ filter: EventFilter
  ) async throws -> Context {
    try await database.read { transaction in
      let view = try self.view(of: roomID, for: user, in: transaction)
      let loader = RoomLoader(transaction: transaction)
      guard let event = try view.event(eventID, in: transaction) else {
        throw MatrixError.notFound("There is no such event, or you may not see it.")
      }
      let limit = min(max(limit, 0), Self.pageLimit)
      var before = Pager(view: view, loader: loader, filter: filter, direction: .backward)
      try before.run(from: event.position - 1, to: nil, limit: limit / 2)
      var after = Pager(view: view, loader: loader, filter: filter, direction: .forward)
      try after.run(from: event.position, to: nil, limit: limit - limit / 2)
      let all = before.events + [event] + after.events
      var state = try loader.state(of: view.room.number, at: after.events.last?.position ?? event.position)
        .filter { filter.matches($0) }
      if filter.lazyLoadsMembers {
        let senders = Set(all.map(\.sender.text))
        state = state.filter { $0.type != .member || senders.contains($0.stateKey ?? "") }
      }
      func shown(_ events: [StoredEvent]) throws -> [StoredEvent] {
        try self.erasures.shown(events, to: user, in: view.room) { loader }
      }
      return Context(
        view: view, event: try shown([event]).first ?? event, before: try shown(before.events), after: try shown(after.events),
        start: TimelineToken(position: before.position),
        end: TimelineToken(position: after.position), state: state,
        aggregations: try AggregationReader(view: view, transaction: transaction, erasures: self.erasures).aggregations(
          of: all))
    }
  }

  private static func senders(of events: [StoredEvent], in room: RoomSnapshot) -> [StoredEvent] {
    Set(events.map(\.sender)).compactMap { room.members[$0]?.event }.sorted { $0.position < $1.position }
  }
}

/// Walks a timeline in batches until enough visible events have passed the filter.
package struct Pager {
  let view: RoomView
  let loader: RoomLoader
  let filter: EventFilter
  let direction: Rooms.Direction
  package private(set) var events: [StoredEvent] = []
  /// Where the walk stands: the token to go on from.
  package private(set) var position: Int64 = 0
  private(set) var reachedEnd = false
  /// Whether there was nothing left to find.
  var isBeyondEnd: Bool { reachedEnd && events.isEmpty }

  package init(view: RoomView, loader: RoomLoader, filter: EventFilter, direction: Rooms.Direction) {
    self.view = view
    self.loader = loader
    self.filter = filter
    self.direction = direction
  }

  package mutating func run(from start: Int64, to stop: Int64?, limit: Int) throws {
    position = start
    var scanned = 0
    while events.count < limit, scanned < Rooms.scanLimit {
      let wanted = filter.isOpen ? limit - events.count : max(100, limit)
      let batch = try batch(limit: wanted)
      for event in batch {
        if let stop, direction == .backward ? event.position <= stop : event.position > stop {
          reachedEnd = true
          return
        }
        position = direction == .backward ? event.position - 1 : event.position
        if view.canSee(event), filter.matches(event) { events.append(event) }
        if events.count == limit { return }
      }
      scanned += batch.count
      if batch.count < wanted {
        reachedEnd = true
        return
      }
    }
  }

  private func batch(limit: Int) throws -> [StoredEvent] {
    switch direction {
    case .backward: try loader.events(in: view.room.number, before: position + 1, limit: limit)
    case .forward: try loader.events(in: view.room.number, after: position, limit: limit)
    }
  }
}
