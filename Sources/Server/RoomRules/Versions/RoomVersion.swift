import JSON
import MatrixModel

/// A room version as the set of features in which versions differ; nothing outside this folder asks for a version by name.
///
/// Spec: "Room Versions". Versions 6 to 12 are known.
package struct RoomVersion: Sendable {
  package enum StateResolution: UInt8, Sendable {
    /// "State resolution" of room versions 2 to 11.
    case v2
    /// Room version 12: starts from the empty state and replays the conflicted state subgraph.
    case v2dot1
  }

  /// As in `m.room.create`: `"12"`.
  package let name: ByteString
  /// `available` of the `m.room_versions` capability says stable or unstable.
  package let isStable: Bool

  /// `knock` is a membership and a join rule.
  package let hasKnocking: Bool
  /// `restricted` is a join rule.
  package let hasRestrictedJoins: Bool
  /// `knock_restricted` is a join rule.
  let hasKnockRestrictedJoins: Bool
  /// `type`, `state_key` and `sender` have at most 255 bytes; before, an event with at most 255 characters is kept, but rejected.
  let hasStrictByteLimits: Bool
  /// Every power level must be an integer; before, a string that stands for one will do, and only `users` is looked at.
  package let needsIntegerPowerLevels: Bool
  /// The room ID is the create event's reference hash; the create event has no `room_id` and is nobody's auth event.
  package let roomIDIsCreateHash: Bool
  /// The sender of the create event and its `additional_creators` stand above every power level.
  package let hasPrivilegedCreators: Bool
  /// `m.room.create` must name its sender again as `creator`.
  package let createNamesCreator: Bool
  /// `redacts` stands in `content` of `m.room.redaction`, not on the top level.
  package let redactsInContent: Bool
  package let stateResolution: StateResolution
  let redaction: RedactionRules

  package static let v6 = RoomVersion(
    name: "6", hasKnocking: false, hasRestrictedJoins: false, hasKnockRestrictedJoins: false, hasStrictByteLimits: false,
    needsIntegerPowerLevels: false, redaction: .v6)

  package static let v7 = RoomVersion(
    name: "7", hasRestrictedJoins: false, hasKnockRestrictedJoins: false, hasStrictByteLimits: false,
    needsIntegerPowerLevels: false, redaction: .v6)

  package static let v8 = RoomVersion(
    name: "8", hasKnockRestrictedJoins: false, hasStrictByteLimits: false, needsIntegerPowerLevels: false, redaction: .v8)

  package static let v9 = RoomVersion(
    name: "9", hasKnockRestrictedJoins: false, hasStrictByteLimits: false, needsIntegerPowerLevels: false, redaction: .v9)

  package static let v10 = RoomVersion(name: "10", hasStrictByteLimits: false, redaction: .v9)

  package static let v11 = RoomVersion(name: "11", createNamesCreator: false, redactsInContent: true, redaction: .v11)

  package static let v12 = RoomVersion(
    name: "12", roomIDIsCreateHash: true, hasPrivilegedCreators: true, createNamesCreator: false, redactsInContent: true,
    stateResolution: .v2dot1, redaction: .v11)

  /// Every version this server can take part in.
  package static let known = [v6, v7, v8, v9, v10, v11, v12]

  /// For new rooms. Spec: "Room Versions", "Complete list of room versions" recommends 12.
  package static let standard = v12

  /// nil for versions that are not known.
  package init?(_ name: ByteString) {
    guard let known = Self.known.first(where: { $0.name == name }) else { return nil }
    self = known
  }

  /// The defaults are those of room version 11, except for `creator` and `redacts`, which are those of version 10.
  private init(
    name: ByteString, hasKnocking: Bool = true, hasRestrictedJoins: Bool = true, hasKnockRestrictedJoins: Bool = true,
    hasStrictByteLimits: Bool = true, needsIntegerPowerLevels: Bool = true, roomIDIsCreateHash: Bool = false,
    hasPrivilegedCreators: Bool = false,
    createNamesCreator: Bool = true, redactsInContent: Bool = false, stateResolution: StateResolution = .v2,
    redaction: RedactionRules
  ) {
    self.name = name
    isStable = true
    self.hasKnocking = hasKnocking
    self.hasRestrictedJoins = hasRestrictedJoins
    self.hasKnockRestrictedJoins = hasKnockRestrictedJoins
    self.hasStrictByteLimits = hasStrictByteLimits
    self.needsIntegerPowerLevels = needsIntegerPowerLevels
    self.roomIDIsCreateHash = roomIDIsCreateHash
    self.hasPrivilegedCreators = hasPrivilegedCreators
    self.createNamesCreator = createNamesCreator
    self.redactsInContent = redactsInContent
    self.stateResolution = stateResolution
    self.redaction = redaction
  }

  /// The rule as this version understands it: nil, under which nobody may join, for one that came later.
  package func understood(_ rule: JoinRule?) -> JoinRule? {
    switch rule {
    case .knock: hasKnocking ? rule : nil
    case .restricted: hasRestrictedJoins ? rule : nil
    case .knockRestricted: hasKnockRestrictedJoins ? rule : nil
    case .public, .invite, .private, nil: rule
    }
  }
}

extension RoomVersion: Equatable {
  package static func == (left: RoomVersion, right: RoomVersion) -> Bool { left.name == right.name }
}

extension RoomVersion: CustomStringConvertible {
  package var description: String { name.string }
}
