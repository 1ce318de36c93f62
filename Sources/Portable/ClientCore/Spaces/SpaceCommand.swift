import JSON
import MatrixModel

/// Which rooms are in which spaces. Fails with `notAllowed` if the user's power level is too low.
public enum SpaceCommand: Sendable {
  /// Puts the room into the space, or changes how it stands there.
  case setChild(RoomID, in: RoomID, SpaceChildChange)
  case removeChild(RoomID, from: RoomID)
  /// States in the room that it belongs to the space.
  case setParent(RoomID, of: RoomID, isCanonical: Bool)
  case removeParent(RoomID, of: RoomID)
}

extension Client {
  mutating func handle(_ command: SpaceCommand, _ id: CommandID) {
    switch command {
    case .setChild(let child, let space, let change): changeSpaceChild(child, in: space, change, id)
    case .removeChild(let child, let space): changeSpaceChild(child, in: space, nil, id)
    case .setParent(let room, let space, let isCanonical): setSpaceParent(room, space, isCanonical: isCanonical, id)
    case .removeParent(let room, let space): setSpaceParent(room, space, isCanonical: nil, id)
    }
  }
}
