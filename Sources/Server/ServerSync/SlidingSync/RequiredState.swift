import JSON
import MatrixModel
import ServerRooms

/// Which state of a room a client wants to have. Spec: MSC4186, `required_state`; both its first form (pairs of type and state
/// key, with `*`, `$ME` and `$LAZY`) and its last (an object of `include`, `exclude` and `lazy_members`).
struct RequiredState: Sendable, Equatable {
  /// Entries of one list.
  static let entriesLimit = 500

  private struct Keys: Sendable, Hashable {
    var isAll = false
    var named: Set<ByteString> = []

    func contains(_ key: ByteString) -> Bool { isAll || named.contains(key) }
  }

  private struct Rules: Sendable, Hashable {
    var ofType: [EventType: Keys] = [:]
    var ofAnyType = Keys()

    mutating func insert(_ type: EventType?, _ key: ByteString?) {
      func insert(into keys: inout Keys) { if let key { keys.named.insert(key) } else { keys.isAll = true } }
      if let type { insert(into: &ofType[type, default: Keys()]) } else { insert(into: &ofAnyType) }
    }

    func matches(_ type: EventType, _ key: ByteString) -> Bool {
      ofAnyType.contains(key) || ofType[type]?.contains(key) ?? false
    }
  }

  /// What one list or subscription asks for.
  private struct Part: Sendable, Hashable {
    var included = Rules()
    var excluded: Rules?
    var isLazy = false

    func matches(_ type: EventType, _ key: ByteString) -> Bool {
      // Lazily loaded members are not meant by "everything", but by their names.
      let isIncluded =
        isLazy && type == .member ? included.ofType[.member]?.contains(key) ?? false : included.matches(type, key)
      return isIncluded && !(excluded?.matches(type, key) ?? false)
    }

    var includesAllMembers: Bool {
      included.ofType[.member]?.isAll ?? false || included.ofAnyType.isAll && !isLazy
    }

    var memberKeys: Set<ByteString> { (included.ofType[.member]?.named ?? []).union(included.ofAnyType.named) }
  }

  /// A part that does not change any more, with its hash by the process's random seed.
  private struct SealedPart: Sendable {
    let part: Part
    let fingerprint: Int

    init(_ part: Part) {
      self.part = part
      fingerprint = part.hashValue
    }
  }

  private let sealed: [SealedPart]
  /// Of the parts: every answer compares thousands of rooms by it.
  private let fingerprint: Int
  /// How many entries it was made of.
  let entriesCount: Int

  private var parts: some Sequence<Part> { sealed.lazy.map(\.part) }

  /// Nothing.
  init() { self.init([], entriesCount: 0) }

  private init(_ sealed: [SealedPart], entriesCount: Int) {
    self.sealed = sealed
    self.entriesCount = entriesCount
    fingerprint = sealed.map(\.fingerprint).hashValue
  }

  static func == (left: RequiredState, right: RequiredState) -> Bool { left.fingerprint == right.fingerprint }

  /// Throws `M_INVALID_PARAM` for what has neither form, or has too many entries.
  init(_ json: JSON?, for user: UserID) throws(MatrixError) {
    guard let json, !json.isNull else {
      self.init()
      return
    }
    guard json.count <= Self.entriesLimit else { throw Self.invalid }
    var part = Part()
    var entriesCount = json.count
    if json.isArray {
      for element in json.elements { try Self.read(pair: element, user, into: &part) }
    } else {
      guard json.isObject else { throw Self.invalid }
      part.included = try Self.rules(json["include"]) ?? Rules()
      part.excluded = try Self.rules(json["exclude"])
      part.isLazy = json["lazy_members"]?.bool ?? false
      entriesCount = (json["include"]?.count ?? 0) + (json["exclude"]?.count ?? 0)
    }
    self.init([SealedPart(part)], entriesCount: entriesCount)
  }

  private static func read(pair: JSON, _ user: UserID, into part: inout Part) throws(MatrixError) {
    var values = pair.elements
    guard let type = values.next()?.text, let key = values.next()?.text, let eventType = EventType(type), pair.count == 2 else {
      throw invalid
    }
    if type == "m.room.member", key == "$LAZY" {
      part.isLazy = true
      return
    }
    part.included.insert(type == "*" ? nil : eventType, key == "*" ? nil : key == "$ME" ? user.text : key)
  }

  private static func rules(_ json: JSON?) throws(MatrixError) -> Rules? {
    guard let json, !json.isNull else { return nil }
    guard json.isArray, json.count <= entriesLimit else { throw invalid }
    var rules = Rules()
    for element in json.elements {
      guard element.isObject else { throw invalid }
      let type = try element.optionalIdentifier("type", as: EventType.self)
      rules.insert(type, try element.optionalText("state_key"))
    }
    return rules
  }

  private static let invalid = MatrixError.invalidParameter(
    "'required_state' is a list of at most \(entriesLimit) pairs of an event type and a state key, or an object.")

  // MARK: Questions

  /// What any of them asks for. O(parts), however much each asks for.
  static func union(of states: [RequiredState]) -> RequiredState {
    var known: Set<Int> = []
    let parts = states.flatMap(\.sealed).filter { known.insert($0.fingerprint).inserted }
    return RequiredState(parts, entriesCount: states.reduce(0) { $0 + $1.entriesCount })
  }

  func matches(_ event: StoredEvent) -> Bool {
    guard let key = event.stateKey else { return false }
    return parts.contains { $0.matches(event.type, key) }
  }

  var includesAllMembers: Bool { parts.contains { $0.includesAllMembers } }

  /// Whether members are told when they are first needed.
  var isLazy: Bool { parts.contains { $0.isLazy } && !includesAllMembers }

  /// The state of a room as it is now, as far as it is wanted. O(state without members), and O(members) only where all are
  /// wanted.
  func state(of room: RoomSnapshot) -> [StoredEvent] {
    var state = room.state.values.filter { matches($0) }
    if includesAllMembers {
      for (_, member) in room.members where matches(member.event) { state.append(member.event) }
    } else {
      var keys: Set<ByteString> = []
      for part in parts { keys.formUnion(part.memberKeys) }
      for key in keys {
        if let event = room[.member, key], matches(event) { state.append(event) }
      }
    }
    return state.sorted { $0.position < $1.position }
  }
}
