import MatrixModel

extension Rooms {
  /// Throws `M_FORBIDDEN` where the operator leaves publishing to administrators.
  package func requireMayPublish(_ actor: Actor) throws(MatrixError) {
    guard configuration.publishing == .members || actor.isAdministrator else {
      throw .forbidden("Rooms of this server are published by its administrators; ask one of them.")
    }
  }
}

extension RoomSnapshot {
  /// Whether the user is in the room and may change `m.room.canonical_alias`.
  package func canSetAddress(_ user: UserID) -> Bool {
    isJoined(user) && powerLevels.canSend(.canonicalAlias, isState: true, by: user)
  }
}
