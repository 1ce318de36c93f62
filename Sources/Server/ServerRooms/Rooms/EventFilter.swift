import JSON
import MatrixModel
import ServerCore

/// Which events someone wants to see. Spec: Client-Server API, "Filtering" (`EventFilter`, `RoomEventFilter`).
package struct EventFilter: Sendable {
  /// Events at most; nil leaves it to the endpoint.
  package var limit: Int?
  package var types: [ByteString]?
  package var excludedTypes: [ByteString] = []
  package var senders: Set<ByteString>?
  package var excludedSenders: Set<ByteString> = []
  package var rooms: Set<ByteString>?
  package var excludedRooms: Set<ByteString> = []
  package var containsURL: Bool?
  package var lazyLoadsMembers = false
  package var includesRedundantMembers = false
  package var unreadThreadNotifications = false

  /// Everything.
  package init() {}

  /// Entries of one list, and those of them with a `*`: an event is held against each.
  static let entriesLimit = 1_000
  static let patternsLimit = 50

  /// Throws `M_BAD_JSON` naming the property that is of another kind than the spec says, or has more entries than allowed.
  package init(_ json: JSON) throws(MatrixError) {
    guard json.isObject else { throw .badJSON("A filter is an object.") }
    if let value = json["limit"] {
      guard let limit = value.integer, limit >= 0 else { throw .badJSON("'limit' of a filter is a number from 0 up.") }
      self.limit = Int(clamping: limit)
    }
    types = try Self.texts(json, "types")
    excludedTypes = try Self.texts(json, "not_types") ?? []
    senders = try Self.texts(json, "senders").map { Set($0) }
    excludedSenders = Set(try Self.texts(json, "not_senders") ?? [])
    rooms = try Self.texts(json, "rooms").map { Set($0) }
    excludedRooms = Set(try Self.texts(json, "not_rooms") ?? [])
    containsURL = try json.optionalBool("contains_url")
    lazyLoadsMembers = try json.optionalBool("lazy_load_members") ?? false
    includesRedundantMembers = try json.optionalBool("include_redundant_members") ?? false
    unreadThreadNotifications = try json.optionalBool("unread_thread_notifications") ?? false
  }

  /// Throws `M_BAD_JSON` if it names rooms or senders by what is not a room ID or user ID.
  package func checkIdentifiers() throws(MatrixError) {
    guard (rooms ?? []).union(excludedRooms).allSatisfy({ RoomID($0) != nil }) else {
      throw .badJSON("'rooms' and 'not_rooms' of a filter are lists of room IDs.")
    }
    guard (senders ?? []).union(excludedSenders).allSatisfy({ UserID($0) != nil }) else {
      throw .badJSON("'senders' and 'not_senders' of a filter are lists of user IDs.")
    }
  }

  /// Whether it lets everything through, so that events need no look.
  package var isOpen: Bool {
    types == nil && excludedTypes.isEmpty && senders == nil && excludedSenders.isEmpty && containsURL == nil
  }

  package func matches(type: EventType, sender: UserID?, content: @autoclosure () -> JSON?) -> Bool {
    if isOpen { return true }
    if excludedTypes.contains(where: { StarPattern.matches(type.text, $0) }) { return false }
    if let types, !types.contains(where: { StarPattern.matches(type.text, $0) }) { return false }
    if let sender {
      if excludedSenders.contains(sender.text) { return false }
      if let senders, !senders.contains(sender.text) { return false }
    }
    if let containsURL, Self.containsURL(content()) != containsURL { return false }
    return true
  }

  /// A gallery has its files one level down (MSC4274): who asks for what has a file shall get those, too.
  private static func containsURL(_ content: JSON?) -> Bool {
    guard let content else { return false }
    if content["url"]?.isString ?? false { return true }
    return content["itemtypes"]?.elements.contains { $0["url"]?.isString ?? false } ?? false
  }

  package func matches(_ event: StoredEvent) -> Bool {
    matches(type: event.type, sender: event.sender, content: event.content)
  }

  package func matches(room: RoomID) -> Bool {
    !excludedRooms.contains(room.text) && (rooms?.contains(room.text) ?? true)
  }

  private static func texts(_ json: JSON, _ key: StaticString) throws(MatrixError) -> [ByteString]? {
    guard let list = json[key] else { return nil }
    guard list.isArray else { throw .badJSON("'\(key)' of a filter is a list of strings.") }
    var texts: [ByteString] = []
    var patterns = 0
    for element in list.elements {
      guard let text = element.text else { throw .badJSON("'\(key)' of a filter is a list of strings.") }
      texts.append(text)
      if text.utf8.contains(UInt8(ascii: "*")) { patterns += 1 }
      guard texts.count <= entriesLimit, patterns <= patternsLimit else {
        throw .badJSON("'\(key)' of a filter has at most \(entriesLimit) entries, \(patternsLimit) of them with a '*'.")
      }
    }
    return texts
  }
}
