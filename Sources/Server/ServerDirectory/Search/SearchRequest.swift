import Database
import JSON
import MatrixModel
import ServerRooms

/// What one `POST /search` asks for. Spec: Client-Server API, "Server Side Search".
package struct SearchRequest: Sendable {
  package enum Order: Sendable { case rank, recent }

  package enum Grouping: Sendable, CaseIterable {
    case room, sender

    package var name: StaticString { self == .room ? "room_id" : "sender" }
  }

  /// What is told of the surroundings of a result.
  package struct Surroundings: Sendable {
    package let before: Int
    package let after: Int
    package let includesProfiles: Bool
  }

  package let text: String
  let types: Set<EventType>
  let filter: EventFilter
  package let order: Order
  package let surroundings: Surroundings?
  package let includesState: Bool
  package let groupings: [Grouping]
  let start: SearchToken?

  /// Bytes of a text that is searched for.
  package static let textBytesLimit = 1_024
  /// Results of one answer: at most, and where the filter does not say.
  package static let resultsLimit = 100
  package static let resultsDefault = 10
  /// Events on each side of a result: at most, and where the request does not say.
  package static let surroundingsLimit = 50
  package static let surroundingsDefault: Int64 = 5

  /// - Parameter json: `search_categories.room_events`.
  ///
  /// Throws `M_MISSING_PARAM`, `M_BAD_JSON`, `M_INVALID_PARAM` naming what is wrong.
  package init(_ json: JSON, nextBatch: ByteString?) throws(MatrixError) {
    let text = try json.requiredText("search_term")
    guard text.count <= Self.textBytesLimit else {
      throw .invalidParameter("'search_term' has at most \(Self.textBytesLimit) bytes.")
    }
    self.text = text.string
    types = try Self.types(json)
    filter = try json.optionalObject("filter").map { json throws(MatrixError) in try EventFilter(json) } ?? EventFilter()
    order = try Self.order(json)
    surroundings = try json.optionalObject("event_context").map { json throws(MatrixError) in try Self.surroundings(json) }
    includesState = try json.optionalBool("include_state") ?? false
    groupings = try Self.groupings(json)
    start = try Self.token(nextBatch, order)
  }

  private static func types(_ json: JSON) throws(MatrixError) -> Set<EventType> {
    guard let keys = try json.optionalArray("keys") else { return Set(SearchableText.Key.allCases.map(\.type)) }
    var types: Set<EventType> = []
    for key in keys.elements {
      if key.isString("content.body") {
        types.insert(.message)
      } else if key.isString("content.name") {
        types.insert(.name)
      } else if key.isString("content.topic") {
        types.insert(.topic)
      } else {
        throw .invalidParameter("'keys' are 'content.body', 'content.name' and 'content.topic'.")
      }
    }
    return types
  }

  private static func order(_ json: JSON) throws(MatrixError) -> Order {
    guard let text = try json.optionalText("order_by") else { return .rank }
    if text == "rank" { return .rank }
    if text == "recent" { return .recent }
    throw .invalidParameter("'order_by' is 'rank' or 'recent'.")
  }

  private static func surroundings(_ json: JSON) throws(MatrixError) -> Surroundings {
    func count(_ key: StaticString) throws(MatrixError) -> Int {
      let count = try json.optionalInteger(key) ?? surroundingsDefault
      guard count >= 0 else { throw .invalidParameter("'\(key)' is a number from 0 up.") }
      return Int(min(count, Int64(surroundingsLimit)))
    }
    return Surroundings(
      before: try count("before_limit"), after: try count("after_limit"),
      includesProfiles: try json.optionalBool("include_profile") ?? false)
  }

  private static func groupings(_ json: JSON) throws(MatrixError) -> [Grouping] {
    guard let list = try json.optionalObject("groupings")?.optionalArray("group_by") else { return [] }
    var wanted: [Grouping] = []
    for entry in list.elements {
      guard let grouping = Grouping.allCases.first(where: { entry["key"]?.isString($0.name) ?? false }) else {
        throw .invalidParameter("The 'key' of a group is 'room_id' or 'sender'.")
      }
      if !wanted.contains(grouping) { wanted.append(grouping) }
    }
    return wanted
  }

  private static func token(_ text: ByteString?, _ order: Order) throws(MatrixError) -> SearchToken? {
    guard let text else { return nil }
    guard let token = SearchToken(text), token.order == order else {
      throw .invalidParameter("'next_batch' is not of an answer to this search.")
    }
    return token
  }

  var limit: Int { min(max(filter.limit ?? Self.resultsDefault, 1), Self.resultsLimit) }
}
