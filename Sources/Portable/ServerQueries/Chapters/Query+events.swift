import JSON
import MatrixModel

/// Looking up events. Spec: Client-Server API, "Getting events for a room", "Relationships API", "Threading".
extension Query {
  public static func event(_ id: EventID, in room: RoomID) -> Query<Event> {
    Query<Event>(.getOneRoomEvent, Endpoint.getOneRoomEvent.path(room.text, id.text)) { Event($0) }
  }

  /// What stands around an event.
  /// - Parameter limit: of the events before and after it, together.
  public static func context(of id: EventID, in room: RoomID, limit: Int? = nil) -> Query<EventContext> {
    Query<EventContext>(
      .getEventContext, Endpoint.getEventContext.path(room.text, id.text), parameters: URLQuery().adding("limit", limit)
    ) { EventContext($0) }
  }

  /// A page of a room's history.
  /// - Parameters:
  ///   - from: `EventPage.nextBatch` of the page before, or `prev_batch` of a sync; nil for the newest or, forwards, the oldest.
  ///   - filter: which events are wanted; nil for all. A page can be empty and have a next one.
  public static func messages(
    in room: RoomID, direction: Direction = .backwards, from: ByteString? = nil, limit: Int? = nil,
    filter: HistoryFilter? = nil
  ) -> Query<EventPage> {
    let parameters = URLQuery().adding("dir", direction.name).adding("from", from).adding("limit", limit)
      .adding("filter", filter.map { filter in ByteString(decoding: JSONWriter.object { filter.write(to: &$0) }) })
    return Query<EventPage>(.getRoomEvents, Endpoint.getRoomEvents.path(room.text), parameters: parameters) {
      EventPage($0, next: "end")
    }
  }

  /// A page of the events that point at an event.
  /// - Parameters:
  ///   - relation: `m.annotation`, `m.replace`, `m.thread` …; nil for all of them.
  ///   - type: of the events; only with a relation.
  ///   - recurses: also those that point at these.
  ///   - from: `EventPage.nextBatch` of the page before.
  public static func relations(
    of id: EventID, in room: RoomID, relation: ByteString? = nil, type: EventType? = nil, recurses: Bool = false,
    direction: Direction = .backwards, limit: Int? = nil, from: ByteString? = nil
  ) -> Query<EventPage> {
    let parameters = URLQuery().adding("dir", direction.name).adding("limit", limit).adding("from", from)
      .adding("recurse", recurses ? true : nil as Bool?)
    let endpoint: Endpoint
    let path: String
    if let relation, let type {
      endpoint = .getRelatingEventsWithRelTypeAndEventType
      path = endpoint.path(room.text, id.text, relation, type.text)
    } else if let relation {
      endpoint = .getRelatingEventsWithRelType
      path = endpoint.path(room.text, id.text, relation)
    } else {
      endpoint = .getRelatingEvents
      path = endpoint.path(room.text, id.text)
    }
    return Query<EventPage>(endpoint, path, parameters: parameters) { EventPage($0, next: "next_batch") }
  }

  /// A page of the roots of a room's threads, the one with the latest reply first.
  /// - Parameter participatedOnly: only threads one has written in.
  public static func threads(
    in room: RoomID, participatedOnly: Bool = false, limit: Int? = nil, from: ByteString? = nil
  ) -> Query<EventPage> {
    let parameters = URLQuery().adding("include", participatedOnly ? "participated" : "all" as ByteString)
      .adding("limit", limit).adding("from", from)
    return Query<EventPage>(.getThreadRoots, Endpoint.getThreadRoots.path(room.text), parameters: parameters) {
      EventPage($0, next: "next_batch")
    }
  }

  /// The event closest to a time, at it or on that side of it.
  /// - Parameter timestampMilliseconds: since 1970.
  public static func event(
    at timestampMilliseconds: Int64, in room: RoomID, direction: Direction
  ) -> Query<EventAtTime> {
    let parameters = URLQuery().adding("ts", timestampMilliseconds).adding("dir", direction.name)
    return Query<EventAtTime>(.getEventByTimestamp, Endpoint.getEventByTimestamp.path(room.text), parameters: parameters) {
      json in
      guard let id = EventID(json["event_id"]) else { return nil }
      return EventAtTime(id: id, timestampMilliseconds: json.integer("origin_server_ts") ?? 0)
    }
  }
}

/// Which events of a history are wanted. Spec: Client-Server API, "Filtering" (`RoomEventFilter`).
public struct HistoryFilter: Sendable {
  /// Empty for all.
  public var types: [EventType]
  /// Whose events; empty for everybody's.
  public var senders: [UserID]
  /// Only events with a file (a `url`), or only those without; nil for both.
  public var containsURL: Bool?

  public init(types: [EventType] = [], senders: [UserID] = [], containsURL: Bool? = nil) {
    self.types = types
    self.senders = senders
    self.containsURL = containsURL
  }

  func write(to writer: inout JSONWriter) {
    writer.list("types", types)
    writer.list("senders", senders)
    if let containsURL { writer.member("contains_url", containsURL) }
  }
}

extension JSONWriter {
  /// A member with a list, unless that is empty.
  mutating func list(_ name: StaticString, _ entries: [some Identifier]) {
    guard !entries.isEmpty else { return }
    key(name)
    array { writer in for entry in entries { writer.write(entry.text) } }
  }
}

/// Which way through the history of a room.
public enum Direction: Sendable {
  case backwards, forwards

  var name: ByteString {
    switch self {
    case .backwards: "b"
    case .forwards: "f"
    }
  }
}

/// Events, and how to get more of them.
public struct EventPage: Sendable {
  /// In the order asked for, without those that are no events.
  public let events: [Event]
  /// State that goes with them, members mostly.
  public let state: [Event]
  /// For `from` of the next page; nil at the end.
  public let nextBatch: ByteString?

  init?(_ json: JSON, next: StaticString) {
    guard let chunk = json["chunk"], chunk.isArray else { return nil }
    events = chunk.elements.compactMap { Event($0) }
    state = json["state"]?.elements.compactMap { Event($0) } ?? []
    nextBatch = json[next]?.text
  }
}

/// An event and its neighbours. Spec: `GET /rooms/{roomId}/context/{eventId}`.
public struct EventContext: Sendable {
  public let event: Event
  /// The nearest first.
  public let before: [Event]
  public let after: [Event]
  /// The room's state at the last of these events.
  public let state: [Event]
  /// For going on from either end (`Query.messages`).
  public let start: ByteString?
  public let end: ByteString?

  init?(_ json: JSON) {
    guard let event = json["event"].flatMap({ Event($0) }) else { return nil }
    self.init(json, event: event)
  }

  /// - Parameter json: holds everything but the event.
  init(_ json: JSON?, event: Event) {
    self.event = event
    before = json?["events_before"]?.elements.compactMap { Event($0) } ?? []
    after = json?["events_after"]?.elements.compactMap { Event($0) } ?? []
    state = json?["state"]?.elements.compactMap { Event($0) } ?? []
    start = json?.text("start")
    end = json?.text("end")
  }
}

/// An event found by a time.
public struct EventAtTime: Sendable, Hashable {
  public let id: EventID
  /// Of the event, since 1970.
  public let timestampMilliseconds: Int64
}
