import JSON
import MatrixModel

/// What a sync shall tell. Spec: Client-Server API, "Filtering" (`Filter`, `RoomFilter`).
package struct SyncFilter: Sendable {
  package var accountData = EventFilter()
  package var rooms = EventFilter()
  package var includesLeft = false
  package var timeline = EventFilter()
  package var state = EventFilter()
  package var ephemeral = EventFilter()
  package var roomAccountData = EventFilter()
  /// Which parts of room events are told, as paths; nil for all.
  package var eventFields: [PropertyPath]?

  /// Everything.
  package init() {}

  /// Throws `M_BAD_JSON` naming the property that is of another kind than the spec says.
  package init(_ json: JSON) throws(MatrixError) {
    guard json.isObject else { throw .badJSON("A filter is an object.") }
    if let part = json["account_data"] { accountData = try EventFilter(part) }
    if let fields = json["event_fields"] {
      guard fields.isArray else { throw .badJSON("'event_fields' of a filter is an array of strings.") }
      eventFields = fields.elements.compactMap { $0.text.map { PropertyPath($0) } }
    }
    if let format = json["event_format"], !format.isString("client"), !format.isString("federation") {
      throw .badJSON("'event_format' of a filter is 'client' or 'federation'.")
    }
    guard let room = json["room"] else { return }
    rooms = try EventFilter(room)
    includesLeft = room["include_leave"]?.bool ?? false
    if let part = room["timeline"] { timeline = try EventFilter(part) }
    if let part = room["state"] { state = try EventFilter(part) }
    if let part = room["ephemeral"] { ephemeral = try EventFilter(part) }
    if let part = room["account_data"] { roomAccountData = try EventFilter(part) }
  }

  /// Events of one room's timeline, where the filter does not say.
  package static let timelineDefault = 20
  /// Events of one room's timeline at most.
  package static let timelineLimit = 1_000

  var timelineCount: Int { min(timeline.limit ?? Self.timelineDefault, Self.timelineLimit) }
}
