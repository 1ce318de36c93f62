import JSON
import MatrixModel

/// Which rooms belong to a list. Spec: MSC4186, `SlidingRoomFilter`; `room_name_like` is of MSC3575; `martlet.hidden` is ours.
struct SlidingFilter: Sendable, Equatable {
  /// Entries of one list of names.
  static let entriesLimit = 1_000
  /// Spaces of one list, and bytes of a part of a name.
  static let spacesLimit = 100
  static let namePartBytesLimit = 255

  private var isDirect: Bool?
  private var isEncrypted: Bool?
  private var isInvite: Bool?
  private var isHidden: Bool?
  /// nil in a set stands for rooms without a type.
  private var types: Set<ByteString?>?
  private var excludedTypes: Set<ByteString?> = []
  private var tags: Set<ByteString>?
  private var excludedTags: Set<ByteString> = []
  private var namePart: [UInt8]?
  /// Rooms whose children are meant.
  private(set) var spaces: Set<RoomID>?

  /// Everything.
  init() {}

  /// Throws `M_BAD_JSON` and `M_INVALID_PARAM` naming the property that is of another kind than the proposal says.
  init(_ json: JSON?) throws(MatrixError) {
    guard let json, !json.isNull else { return }
    guard json.isObject else { throw .badJSON("'filters' of a list is an object.") }
    isDirect = try json.optionalBool("is_dm")
    isEncrypted = try json.optionalBool("is_encrypted")
    let invited = try json.optionalBool("is_invited")
    isInvite = try json.optionalBool("is_invite") ?? invited
    isHidden = try json.optionalBool("martlet.hidden")
    types = try Self.types(json, "room_types")
    excludedTypes = try Self.types(json, "not_room_types") ?? []
    tags = try Self.texts(json, "tags").map { Set($0) }
    excludedTags = Set(try Self.texts(json, "not_tags") ?? [])
    namePart = try json.optionalText("room_name_like").map { ListedRoom.folded($0) }
    guard namePart?.count ?? 0 <= Self.namePartBytesLimit else {
      throw .invalidParameter("'room_name_like' has at most \(Self.namePartBytesLimit) bytes.")
    }
    if let texts = try Self.texts(json, "spaces") {
      // Each is looked through: none of them twice.
      let spaces = Set(texts.compactMap { RoomID($0) })
      guard spaces.count <= Self.spacesLimit else {
        throw .invalidParameter("'spaces' names at most \(Self.spacesLimit) rooms.")
      }
      self.spaces = spaces
    }
  }

  var isOpen: Bool { self == SlidingFilter() }

  /// - Parameter children: the rooms that the filter's spaces name.
  func matches(_ room: ListedRoom, _ markers: RoomMarkers, children: Set<ByteString>) -> Bool {
    if let isInvite, (room.membership == .invite) != isInvite { return false }
    if let isEncrypted, room.isEncrypted != isEncrypted { return false }
    if !excludedTypes.isEmpty, excludedTypes.contains(room.type) { return false }
    if let types, !types.contains(room.type) { return false }
    if let isDirect, markers.direct.contains(room.roomID) != isDirect { return false }
    if let isHidden, markers.hidden.contains(room.roomID) != isHidden { return false }
    if tags != nil || !excludedTags.isEmpty {
      let own = markers.tags[room.roomID] ?? []
      if !excludedTags.isDisjoint(with: own) { return false }
      if let tags, tags.isDisjoint(with: own) { return false }
    }
    if let namePart, !room.name(contains: namePart) { return false }
    return spaces == nil || children.contains(room.roomID.text)
  }

  private static func types(_ json: JSON, _ key: StaticString) throws(MatrixError) -> Set<ByteString?>? {
    guard let list = try json.optionalArray(key) else { return nil }
    guard list.count <= entriesLimit else { throw .invalidParameter("'\(key)' has at most \(entriesLimit) entries.") }
    var types: Set<ByteString?> = []
    for element in list.elements {
      guard element.isNull || element.isString else { throw .badJSON("'\(key)' is a list of strings and null.") }
      types.insert(element.text)
    }
    return types
  }

  private static func texts(_ json: JSON, _ key: StaticString) throws(MatrixError) -> [ByteString]? {
    guard let list = try json.optionalArray(key) else { return nil }
    guard list.count <= entriesLimit else { throw .invalidParameter("'\(key)' has at most \(entriesLimit) entries.") }
    var texts: [ByteString] = []
    for element in list.elements {
      guard let text = element.text else { throw .badJSON("'\(key)' is a list of strings.") }
      texts.append(text)
    }
    return texts
  }
}
