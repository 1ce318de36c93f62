import JSON
import MatrixModel

/// Messages that go for this account alone, on all its devices; for others they stay. In the room's account data `martlet.removed`.
/// Documentation/Extensions.md
extension Client {
  mutating func removeForMe(_ event: EventID, from id: RoomID, _ command: CommandID) {
    guard let user = session?.userID, let room = rooms[id] else { return finish(command, .failed(.unknownRoom)) }
    guard !room.removedEvents.contains(event) else { return finish(command, .done) }
    rooms[id]?.removing.append(event)
    hideRemoved(in: id)
    let events = rooms[id]?.removedEvents.suffix(Limits.removedEvents) ?? []
    let body = JSONWriter.object { writer in
      writer.key("events")
      writer.array { writer in for event in events { writer.write(event) } }
    }
    let path = Endpoint.setAccountDataPerRoom.path(user.text, id.text, EventType.removed.text)
    request(.setAccountDataPerRoom, path, body: body, for: .removal(id, event, command))
  }

  mutating func removalAnswered(_ answer: Answer, _ id: RoomID, _ event: EventID, _ command: CommandID) {
    if let error = answer.error {
      rooms[id]?.removing.removeAll { $0 == event }
      readTimelinesAgain(id)
      settlePreview(id)
      return finish(command, .failed(error))
    }
    finish(command, .done)
  }

  /// A sync has told of them: those of this device among them wait no more.
  mutating func removalsTold(in id: RoomID) {
    if let room = rooms[id], !room.removing.isEmpty { rooms[id]?.removing.removeAll { room.state.marks.removed.contains($0) } }
    hideRemoved(in: id)
  }

  mutating func hideRemoved(in id: RoomID) {
    guard let room = rooms[id], let user = session?.userID else { return }
    let removed = Set(room.removedEvents)
    settlePreview(id)
    guard room.hasTimeline else { return }
    changeTimeline(id) { timeline, _ in
      timeline.relations.removed = removed
      return timeline.hide(ownUserID: user) { item in item.eventID.map { removed.contains($0) } ?? false }
    }
    readersMoved(in: id)
  }
}

extension Room {
  /// What the account has removed for itself, the newest last.
  public var removedEvents: [EventID] {
    let known = state.marks.removed
    if removing.isEmpty { return known }
    return known + removing.filter { !known.contains($0) }
  }
}
