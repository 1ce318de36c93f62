import Database
import JSON
import MatrixModel

/// A room as administrators see it, whatever its members may.
package struct RoomOverview: Sendable {
  package let roomID: RoomID
  package let version: ByteString
  package let creator: ByteString?
  package let name: ByteString?
  package let topic: ByteString?
  package let avatar: ByteString?
  package let canonicalAlias: ByteString?
  package let encryption: ByteString?
  package let joinRule: ByteString?
  package let guestAccess: ByteString?
  package let historyVisibility: ByteString?
  package let roomType: ByteString?
  package let isFederated: Bool
  package let isPublic: Bool
  package let joined: Int64
  package let joinedHere: Int64
  package let stateEvents: Int64
}

/// Which rooms to list, from where on, and in what order.
package struct RoomQuery: Sendable {
  package enum Order: String, Sendable {
    case name, alphabetical, size, version, creator, encryption, federatable
    case `public`
    case canonicalAlias = "canonical_alias"
    case joinedMembers = "joined_members"
    case joinedLocalMembers = "joined_local_members"
    case joinRules = "join_rules"
    case guestAccess = "guest_access"
    case historyVisibility = "history_visibility"
    case stateEvents = "state_events"

    /// Whether the larger come first unless asked otherwise.
    var isDescending: Bool {
      switch self {
      case .size, .joinedMembers, .joinedLocalMembers, .version, .stateEvents: true
      default: false
      }
    }
  }

  package static let limitRange = 1...1_000

  /// In the name or the main alias without regard to case, or in the room ID.
  package var search: ByteString?
  package var isPublic: Bool?
  package var isEmpty: Bool?
  package var order = Order.name
  package var isReversed = false
  package var offset: Int64 = 0
  package var limit = 100

  package init() {}

  func fits(_ room: RoomOverview) -> Bool {
    if let isPublic, isPublic != room.isPublic { return false }
    if let isEmpty, isEmpty != (room.joined == 0) { return false }
    guard let search, !search.isEmpty else { return true }
    let (term, exact) = (search.string.lowercased(), search.string)
    return (room.name?.string.lowercased().contains(term) ?? false)
      || (room.canonicalAlias?.string.lowercased().contains(term) ?? false) || room.roomID.string.contains(exact)
  }

  func key(_ room: RoomOverview) -> (number: Int64, text: ByteString) {
    switch order {
    case .name, .alphabetical: (0, ByteString((room.name ?? "").string.lowercased()))
    case .canonicalAlias: (0, room.canonicalAlias ?? "")
    case .size, .joinedMembers: (room.joined, "")
    case .joinedLocalMembers: (room.joinedHere, "")
    case .version: (Int64(room.version.string) ?? 0, room.version)
    case .creator: (0, room.creator ?? "")
    case .encryption: (0, room.encryption ?? "")
    case .federatable: (room.isFederated ? 1 : 0, "")
    case .public: (room.isPublic ? 1 : 0, "")
    case .joinRules: (0, room.joinRule ?? "")
    case .guestAccess: (0, room.guestAccess ?? "")
    case .historyVisibility: (0, room.historyVisibility ?? "")
    case .stateEvents: (room.stateEvents, "")
    }
  }
}
