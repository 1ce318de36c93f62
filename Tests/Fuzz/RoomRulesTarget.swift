import JSON
import MatrixModel
import RoomRules

/// Any bytes as an event of each room version: what is refused is refused without a trap, and what is accepted can be
/// redacted, hashed, cut, put together and authorized.
func fuzzRoomRules(_ bytes: UnsafeRawBufferPointer) {
  for version in RoomVersion.known {
    guard let event = try? PDU(Array(bytes), version: version) else { continue }
    guard let redacted = try? event.redacted() else { fatalError("a redacted event is no event") }
    guard let reread = try? PDU(Array(redacted.bytes), version: version), reread.eventID == event.eventID else {
      fatalError("a redaction changed the event ID")
    }
    let fragments = EventFragments(event)
    guard let whole = try? fragments.event(roomID: event.roomID, version: version), whole.elementsEqual(event.bytes)
    else {
      fatalError("fragments do not make the event again")
    }
    _ = event.hasValidContentHash
    _ = event.isSigned { _, _ in nil }
    _ = version.authEventKeys(for: event)
    try? version.authorize(event, in: FuzzedRoom(event, version))
  }
}

/// The room as the fuzzed event itself would have it.
private struct FuzzedRoom: AuthorizationState {
  let create: RoomCreate?
  let powerLevels: PowerLevels
  let joinRule: JoinRule?
  let content: JSON

  init(_ event: PDU, _ version: RoomVersion) {
    let create = RoomCreate(
      eventID: event.eventID, roomID: event.roomID, sender: event.sender, content: event.content, version: version)
    self.create = create
    powerLevels = create.powerLevels(event.content)
    joinRule = JoinRule(event.content["join_rule"])
    content = event.content
  }

  func membership(of user: UserID) -> Membership? { Membership(content["membership"]) ?? .join }
  func thirdPartyInvite(token: ByteString) -> ThirdPartyInvite? {
    create.map { ThirdPartyInvite(sender: $0.sender, content: content) }
  }
}
