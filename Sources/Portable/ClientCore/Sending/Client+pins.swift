import JSON
import MatrixModel

/// Pinned events. The list is read anew before it is changed: another client may have pinned something meanwhile.
extension Client {
  mutating func setPinned(_ isPinned: Bool, _ event: EventID, in room: RoomID, _ command: CommandID) {
    guard let user = session?.userID, let known = rooms[room], known.membership == .join else {
      return finish(command, .failed(.unknownRoom))
    }
    if let levels = known.powerLevels, !levels.canSend(.pinnedEvents, isState: true, by: user) {
      return finish(command, .failed(.notAllowed))
    }
    request(
      .getRoomStateWithKey, Endpoint.getRoomStateWithKey.path(room.text, EventType.pinnedEvents.text, ""),
      for: .pinnedEvents(room, event, isPinned: isPinned, command))
  }

  mutating func pinnedEventsAnswered(
    _ answer: Answer, _ room: RoomID, _ event: EventID, isPinned: Bool, _ command: CommandID
  ) {
    var events: [EventID] = []
    switch answer {
    case .success(let json): events = json["pinned"]?.elements.compactMap { EventID($0) } ?? []
    // Nothing was ever pinned.
    case .refused(let error, _) where error.status == 404: break
    default: return finish(command, .failed(answer.error ?? .badAnswer))
    }
    guard events.contains(event) != isPinned else { return finish(command, .done) }
    if isPinned { events.append(event) } else { events.removeAll { $0 == event } }
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("pinned")
      writer.array { writer in for event in events { writer.write(event) } }
    }
    request(
      .setRoomStateWithKey, Endpoint.setRoomStateWithKey.path(room.text, EventType.pinnedEvents.text, ""), body: writer.bytes,
      for: .command(command))
  }
}
