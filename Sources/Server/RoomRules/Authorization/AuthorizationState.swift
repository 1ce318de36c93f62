import JSON
import MatrixModel

/// The state against which an event is authorized, already parsed: a room's snapshot, or the state that resolution replays.
package protocol AuthorizationState {
  /// nil where the room does not exist yet: then only its create event is allowed.
  var create: RoomCreate? { get }
  /// `RoomCreate.powerLevels` of the current event, or of none.
  var powerLevels: PowerLevels { get }
  /// `invite` where the room has no `m.room.join_rules`; nil for a rule that the standard does not know.
  var joinRule: JoinRule? { get }
  /// nil where the user has no member event: the same as `leave`.
  func membership(of user: UserID) -> Membership?
  /// The `m.room.third_party_invite` with this state key.
  func thirdPartyInvite(token: ByteString) -> ThirdPartyInvite?
}

/// What the rules need of an `m.room.third_party_invite`.
package struct ThirdPartyInvite: Sendable {
  package let sender: UserID
  package let content: JSON

  package init(sender: UserID, content: JSON) {
    self.sender = sender
    self.content = content
  }
}
