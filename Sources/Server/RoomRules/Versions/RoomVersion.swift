import JSON
import MatrixModel

/// A room version as the set of features in which versions differ; nothing outside this folder asks for a version by name.
///
/// Spec: "Room Versions". Versions 10 to 12 are known.
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

  package static let v10 = RoomVersion(
    name: "10", isStable: true, roomIDIsCreateHash: false, hasPrivilegedCreators: false, createNamesCreator: true,
    redactsInContent: false, stateResolution: .v2, redaction: .v9)

  package static let v11 = RoomVersion(
    name: "11", isStable: true, roomIDIsCreateHash: false, hasPrivilegedCreators: false, createNamesCreator: false,
    redactsInContent: true, stateResolution: .v2, redaction: .v11)

  package static let v12 = RoomVersion(
    name: "12", isStable: true, roomIDIsCreateHash: true, hasPrivilegedCreators: true, createNamesCreator: false,
    redactsInContent: true, stateResolution: .v2dot1, redaction: .v11)

  /// Every version this server can take part in.
  package static let known = [v10, v11, v12]

  /// For new rooms. Spec: "Room Versions", "Complete list of room versions" recommends 12.
  package static let standard = v12

  /// nil for versions that are not known.
  package init?(_ name: ByteString) {
    guard let known = Self.known.first(where: { $0.name == name }) else { return nil }
    self = known
  }

  private init(
    name: ByteString, isStable: Bool, roomIDIsCreateHash: Bool, hasPrivilegedCreators: Bool, createNamesCreator: Bool,
    redactsInContent: Bool, stateResolution: StateResolution, redaction: RedactionRules
  ) {
    self.name = name
    self.isStable = isStable
    self.roomIDIsCreateHash = roomIDIsCreateHash
    self.hasPrivilegedCreators = hasPrivilegedCreators
    self.createNamesCreator = createNamesCreator
    self.redactsInContent = redactsInContent
    self.stateResolution = stateResolution
    self.redaction = redaction
  }
}

extension RoomVersion: Equatable {
  package static func == (left: RoomVersion, right: RoomVersion) -> Bool { left.name == right.name }
}

extension RoomVersion: CustomStringConvertible {
  package var description: String { name.string }
}
