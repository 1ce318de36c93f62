import JSON
import MatrixModel
import ServerRooms

/// What a sync shall tell. Spec: Client-Server API, "Filtering" (`Filter`, `RoomFilter`).
///
/// Shared by all requests that name it: a parked request costs a reference.
package final class SyncFilter: Sendable {
  package let accountData: EventFilter
  package let presence: EventFilter
  package let rooms: EventFilter
  package let includesLeft: Bool
  package let timeline: EventFilter
  package let state: EventFilter
  package let ephemeral: EventFilter
  package let roomAccountData: EventFilter
  /// Whether room events are told as servers exchange them.
  package let usesFederationFormat: Bool
  /// Which parts of room events are told, as paths; nil for all.
  package let eventFields: [PropertyPath]?

  /// Entries of `event_fields`: each member of an event is held against each.
  static let eventFieldsLimit = 100

  /// Everything.
  package static let open = SyncFilter()

  private init() {
    accountData = EventFilter()
    presence = EventFilter()
    rooms = EventFilter()
    includesLeft = false
    timeline = EventFilter()
    state = EventFilter()
    ephemeral = EventFilter()
    roomAccountData = EventFilter()
    eventFields = nil
    usesFederationFormat = false
  }

  /// Throws `M_BAD_JSON` naming the property that is of another kind than the spec says.
  package init(_ json: JSON) throws(MatrixError) {
    guard json.isObject else { throw .badJSON("A filter is an object.") }
    if let format = json["event_format"], !format.isString("client"), !format.isString("federation") {
      throw .badJSON("'event_format' of a filter is 'client' or 'federation'.")
    }
    usesFederationFormat = json["event_format"]?.isString("federation") ?? false
    accountData = try Self.part(json["account_data"])
    presence = try Self.part(json["presence"])
    eventFields = try Self.fields(json["event_fields"])
    let room = json["room"]
    rooms = try Self.part(room)
    includesLeft = try room?.optionalBool("include_leave") ?? false
    timeline = try Self.part(room?["timeline"])
    state = try Self.part(room?["state"])
    ephemeral = try Self.part(room?["ephemeral"])
    roomAccountData = try Self.part(room?["account_data"])
  }

  private static func part(_ json: JSON?) throws(MatrixError) -> EventFilter {
    guard let json else { return EventFilter() }
    return try EventFilter(json)
  }

  private static func fields(_ json: JSON?) throws(MatrixError) -> [PropertyPath]? {
    guard let json else { return nil }
    guard json.isArray else { throw .badJSON("'event_fields' of a filter is an array of strings.") }
    guard json.count <= eventFieldsLimit else {
      throw .badJSON("'event_fields' of a filter has at most \(eventFieldsLimit) entries.")
    }
    var paths: [PropertyPath] = []
    for element in json.elements {
      guard let text = element.text else { throw .badJSON("'event_fields' of a filter is an array of strings.") }
      paths.append(PropertyPath(text))
    }
    return paths
  }

  /// Throws `M_BAD_JSON` if it names rooms or senders by what is not a room ID or user ID.
  func checkIdentifiers() throws(MatrixError) {
    for part in [accountData, presence, rooms, timeline, state, ephemeral, roomAccountData] { try part.checkIdentifiers() }
  }

  /// Events of one room's timeline, where the filter does not say.
  package static let timelineDefault = 20
  /// Events of one room's timeline at most.
  package static let timelineLimit = 1_000

  var timelineCount: Int { min(timeline.limit ?? Self.timelineDefault, Self.timelineLimit) }
}
