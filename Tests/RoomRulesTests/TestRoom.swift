import JSON
import MatrixModel

@testable import RoomRules

/// A room in memory: builds real, signed events and keeps the state they make.
struct TestRoom {
  let version: RoomVersion
  private(set) var events: [EventID: PDU] = [:]
  var state: StateMap = [:]
  private(set) var roomID: RoomID
  private(set) var lastEvent: EventID
  private(set) var clock: Int64 = 1_000

  static let server = ServerName(trusted: "a.example")
  static let builder = EventBuilder(server: server, key: testKey)
  static let alice = UserID(trusted: "@alice:a.example")
  static let bob = UserID(trusted: "@bob:a.example")
  static let carol = UserID(trusted: "@carol:b.example")

  /// Alice made it and joined it.
  init(_ version: RoomVersion, createContent: String = "{}") throws {
    self.version = version
    roomID = RoomID(trusted: "!room:a.example")
    lastEvent = EventID(trusted: "$none")
    let content =
      version.createNamesCreator && createContent == "{}" ? #"{"creator":"@alice:a.example"}"# : createContent
    let create = try Self.build(
      EventDraft(
        version: version, roomID: version.roomIDIsCreateHash ? nil : roomID, type: .create, sender: Self.alice,
        stateKey: "", content: try json(content), originServerTimestamp: clock))
    roomID = create.roomID
    events[create.eventID] = create
    state[StateMapKey(.create)] = create.eventID
    lastEvent = create.eventID
    try add(.member, from: Self.alice, stateKey: Self.alice.text, #"{"membership":"join"}"#)
  }

  static func build(_ draft: EventDraft) throws -> PDU {
    try PDU(TestRoom.builder.build(draft).bytes, version: draft.version)
  }

  /// What an event would be, sent now.
  func draft(
    _ type: EventType, from sender: UserID, stateKey: ByteString? = nil, _ content: String = "{}", at time: Int64? = nil
  ) throws -> EventDraft {
    var draft = EventDraft(
      version: version, roomID: roomID, type: type, sender: sender, stateKey: stateKey, content: try json(content),
      prevEvents: [lastEvent], depth: clock, originServerTimestamp: time ?? clock)
    draft.authEvents = version.authEventKeys(for: draft).compactMap { state[$0] }
    return draft
  }

  /// Adds an event whether the rules allow it or not.
  ///
  /// - Parameter authEvents: the state from which its auth events are chosen, nil for the room's.
  @discardableResult
  mutating func add(
    _ type: EventType, from sender: UserID, stateKey: ByteString? = nil, _ content: String = "{}", at time: Int64? = nil,
    authEvents: StateMap? = nil
  ) throws -> PDU {
    clock += 1
    var draft = try draft(type, from: sender, stateKey: stateKey, content, at: time)
    if let authEvents { draft.authEvents = version.authEventKeys(for: draft).compactMap { authEvents[$0] } }
    let event = try Self.build(draft)
    events[event.eventID] = event
    lastEvent = event.eventID
    if let key = event.stateMapKey { state[key] = event.eventID }
    return event
  }

  mutating func setMember(_ user: UserID, _ membership: String, by sender: UserID? = nil) throws {
    try add(.member, from: sender ?? user, stateKey: user.text, #"{"membership":"\#(membership)"}"#)
  }

  mutating func setJoinRule(_ rule: String) throws {
    try add(.joinRules, from: Self.alice, stateKey: "", #"{"join_rule":"\#(rule)"}"#)
  }

  /// Takes over what another copy of the room has seen, not its state.
  mutating func learn(_ other: TestRoom) {
    events.merge(other.events) { mine, _ in mine }
    clock = max(clock, other.clock)
  }

  func event(_ key: StateMapKey) -> PDU? { state[key].flatMap { events[$0] } }

  /// nil where the event is allowed, else what the user is told.
  func refusal(
    _ type: EventType, from sender: UserID, stateKey: ByteString? = nil, _ content: String = "{}"
  ) throws -> String? {
    do throws(AuthorizationError) {
      let draft: EventDraft
      do { draft = try self.draft(type, from: sender, stateKey: stateKey, content) } catch { return "\(error)" }
      try version.authorize(draft, in: self)
      return nil
    } catch { return error.message }
  }

  func memberRefusal(_ user: UserID, _ membership: String, by sender: UserID? = nil) throws -> String? {
    try refusal(.member, from: sender ?? user, stateKey: user.text, #"{"membership":"\#(membership)"}"#)
  }
}

extension TestRoom: AuthorizationState {
  var create: RoomCreate? { event(StateMapKey(.create)).map { RoomCreate($0) } }
  var powerLevels: PowerLevels {
    create?.powerLevels(event(StateMapKey(.powerLevels))?.content) ?? PowerLevels(creator: nil)
  }
  var joinRule: JoinRule? {
    guard let event = event(StateMapKey(.joinRules)) else { return .invite }
    return JoinRule(event.content["join_rule"])
  }
  func membership(of user: UserID) -> Membership? {
    event(StateMapKey(.member, user.text)).flatMap { Membership($0.content["membership"]) }
  }
  func thirdPartyInvite(token: ByteString) -> ThirdPartyInvite? {
    event(StateMapKey(.thirdPartyInvite, token)).map { ThirdPartyInvite(sender: $0.sender, content: $0.content) }
  }
}

func json(_ text: String) throws -> JSON { try JSON.parse(Array(text.utf8)) }

func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

/// The key of the spec's "Cryptographic Test Vectors".
let testKey: SigningKey = {
  guard let key = SigningKey(line: "ed25519 1 YJDBA9Xnr2sVqXD9Vj7XVUnmFZcZrlw8Md7kMW+3XA1") else {
    preconditionFailure("the spec's seed is readable")
  }
  return key
}()

let versions = RoomVersion.known
