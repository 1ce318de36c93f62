import EventContent
import JSON
import MatrixModel

/// Full-text search on the server. Spec: Client-Server API, "Server Side Search".
extension Query {
  /// - Parameter from: `SearchPage.nextBatch` of the page before, or a group's for more of that group.
  public static func search(_ search: MessageSearch, from: ByteString? = nil) -> Query<SearchPage> {
    Query<SearchPage>(
      .search, Endpoint.search.path(), parameters: URLQuery().adding("next_batch", from), body: search.body
    ) { SearchPage($0) }
  }
}

/// What to search for.
public struct MessageSearch: Sendable {
  public enum Key: Sendable { case body, name, topic }
  public enum Order: Sendable { case rank, recent }
  public enum Grouping: Sendable { case room, sender }

  public var term: ByteString
  /// Parts of events to look into; empty for all.
  public var keys: [Key] = []
  /// Rooms to look into; empty for all that one is or was in.
  public var rooms: [RoomID] = []
  /// Whose events; empty for everybody's.
  public var senders: [UserID] = []
  /// Only events with a file (a `url`), or only those without; nil for both.
  public var containsURL: Bool?
  public var order = Order.recent
  public var groupings: [Grouping] = []
  /// Events before and after each result.
  public var contextBefore = 0
  public var contextAfter = 0
  public var limit: Int?

  public init(_ term: ByteString) { self.term = term }

  var body: [UInt8] {
    JSONWriter.object { writer in
      writer.key("search_categories")
      writer.object { writer in
        writer.key("room_events")
        writer.object { writer in writeCriteria(to: &writer) }
      }
    }
  }

  private func writeCriteria(to writer: inout JSONWriter) {
    writer.member("search_term", term)
    if !keys.isEmpty {
      writer.key("keys")
      writer.array { writer in for key in keys { writer.write(key.name) } }
    }
    writer.member("order_by", order == .rank ? "rank" : "recent")
    writer.key("filter")
    writer.object { writer in
      if let limit { writer.member("limit", limit) }
      writer.list("rooms", rooms)
      HistoryFilter(senders: senders, containsURL: containsURL).write(to: &writer)
    }
    if contextBefore > 0 || contextAfter > 0 {
      writer.key("event_context")
      writer.object { writer in
        writer.member("before_limit", contextBefore)
        writer.member("after_limit", contextAfter)
      }
    }
    guard !groupings.isEmpty else { return }
    writer.key("groupings")
    writer.object { writer in
      writer.key("group_by")
      writer.array { writer in
        for grouping in groupings {
          writer.object { $0.member("key", grouping == .room ? "room_id" : "sender") }
        }
      }
    }
  }
}

extension MessageSearch.Key {
  fileprivate var name: String {
    switch self {
    case .body: "content.body"
    case .name: "content.name"
    case .topic: "content.topic"
    }
  }
}

/// A page of what a search found.
public struct SearchPage: Sendable {
  /// Results that belong together.
  public struct Group: Sendable {
    /// A room ID or user ID.
    public let key: ByteString
    public let order: Int64
    public let results: [EventID]
    /// For more of this group; nil at its end.
    public let nextBatch: ByteString?
  }

  /// In the order asked for, each with its context where that was asked for.
  public let results: [EventContext]
  /// About how many there are in all; nil where the server does not say.
  public let countEstimate: Int?
  /// Words to highlight, which may differ from the term.
  public let highlights: [ByteString]
  public let roomGroups: [Group]
  public let senderGroups: [Group]
  /// For `from` of the next page; nil at the end.
  public let nextBatch: ByteString?

  init?(_ json: JSON) {
    guard let events = json["search_categories"]?["room_events"], events.isObject else { return nil }
    results =
      events["results"]?.elements.compactMap { result in
        guard let event = result["result"].flatMap({ Event($0) }) else { return nil }
        return EventContext(result["context"], event: event)
      } ?? []
    countEstimate = events["count"]?.count32
    highlights = events["highlights"]?.elements.compactMap { $0.text } ?? []
    roomGroups = Self.groups(events["groups"]?["room_id"])
    senderGroups = Self.groups(events["groups"]?["sender"])
    nextBatch = events.text("next_batch")
  }

  private static func groups(_ json: JSON?) -> [Group] {
    guard let json else { return [] }
    return json.members.map { member in
      Group(
        key: member.key, order: member.value.integer("order") ?? 0,
        results: member.value["results"]?.elements.compactMap { EventID($0) } ?? [],
        nextBatch: member.value.text("next_batch"))
    }.ordered { $0.order < $1.order }
  }
}
