import JSON
import MatrixModel

/// Changing power levels. The event is read anew before it is changed: somebody else may have changed it meanwhile.
extension Client {
  mutating func setPowerLevel(of user: UserID, to level: Int64?, in room: RoomID, _ command: CommandID) {
    guard let known = rooms[room], let own = session?.userID else { return finish(command, .failed(.unknownRoom)) }
    if let levels = known.powerLevels {
      let new = level ?? levels.required(.usersDefault).value
      guard levels.canSetLevel(of: user, to: new, by: own) else { return finish(command, .failed(.notAllowed)) }
    }
    request(
      .getRoomStateWithKey, Endpoint.getRoomStateWithKey.path(room.text, EventType.powerLevels.text, ""),
      for: .powerLevels(room, user, level, command))
  }

  mutating func powerLevelsAnswered(
    _ answer: Answer, _ room: RoomID, _ user: UserID, _ level: Int64?, _ command: CommandID
  ) {
    guard case .success(let json) = answer, json.isObject else {
      return finish(command, .failed(answer.error ?? .badAnswer))
    }
    request(
      .setRoomStateWithKey, Endpoint.setRoomStateWithKey.path(room.text, EventType.powerLevels.text, ""),
      body: PowerLevels.content(json, with: user, at: level), for: .command(command))
  }
}

extension PowerLevels {
  /// The content of `m.room.power_levels` with another level of one user, and everything else as it was.
  static func content(_ content: JSON, with user: UserID, at level: Int64?) -> [UInt8] {
    JSONWriter.object { writer in
      for member in content.members where !member.isKey("users") {
        writer.key(member.key)
        writer.write(member.value)
      }
      writer.key("users")
      writer.object { writer in
        if let users = content["users"] {
          for member in users.members where member.key != user.text {
            writer.key(member.key)
            writer.write(member.value)
          }
        }
        guard let level else { return }
        writer.key(user.text)
        writer.write(level)
      }
    }
  }
}
