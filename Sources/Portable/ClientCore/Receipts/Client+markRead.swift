import JSON
import MatrixModel

/// Reading rooms to their end without looking at them.
extension Client {
  mutating func markRead(_ room: RoomID?, _ id: CommandID) {
    if let room, rooms[room]?.membership != .join { return finish(id, .failed(.unknownRoom)) }
    guard let offered = extensions.offered else { return learnExtensions(for: .reading(.markRead(room)), id) }
    let unread = room.map { [$0] } ?? roomIDs.filter { rooms[$0]?.membership == .join && rooms[$0]?.isUnread ?? false }
    guard offered.contains(.readAll) else { return markReadOneByOne(unread, id) }
    let body = JSONWriter.object { writer in
      if let room {
        writer.key("rooms")
        writer.array { $0.write(room) }
      }
      if !sendsPublicReceipts { writer.member("private", true) }
    }
    request(.markAllRead, Endpoint.markAllRead.path(), body: body, for: .markedRead(unread, id))
  }

  /// The newest event is asked for: what is in memory need not have it.
  private mutating func markReadOneByOne(_ rooms: [RoomID], _ id: CommandID) {
    markingRead[id] = rooms.count
    for room in rooms {
      request(
        .getRoomEvents, Endpoint.getRoomEvents.path(room.text), query: "?dir=b&limit=1", for: .lastEvent(room, id))
    }
    if rooms.isEmpty { endMarking(id, nil) }
  }

  mutating func lastEventAnswered(_ answer: Answer, _ room: RoomID, _ id: CommandID) {
    guard case .success(let json) = answer, let chunk = json["chunk"], chunk.isArray else {
      return endMarking(id, answer.error ?? .badAnswer)
    }
    guard let event = chunk.elements.first(where: { _ in true }).flatMap({ EventID($0["event_id"]) }) else {
      return endMarking(id, nil)
    }
    let body = JSONWriter.object { writer in
      writer.member("m.fully_read", event)
      if sendsPublicReceipts { writer.member("m.read", event) } else { writer.member("m.read.private", event) }
    }
    request(.setReadMarker, Endpoint.setReadMarker.path(room.text), body: body, for: .markedRead([room], id))
  }

  mutating func markedReadAnswered(_ answer: Answer, _ rooms: [RoomID], _ id: CommandID) {
    if answer.error == nil {
      for room in rooms { clearUnreadMark(room) }
      for room in rooms where self.rooms[room]?.notificationCount ?? 0 > 0 {
        // Until the server's own count is newer.
        self.rooms[room]?.reading.localCount = UnreadCounts()
        notify(.room(room, .unread))
      }
    }
    if markingRead[id] == nil { return finish(id, answer.error.map { .failed($0) } ?? .done) }
    endMarking(id, answer.error)
  }

  /// One room of several is done; the first error is the command's.
  private mutating func endMarking(_ id: CommandID, _ error: ClientError?) {
    guard let left = markingRead[id] else { return }
    if error != nil || left <= 1 {
      markingRead[id] = nil
      return finish(id, error.map { .failed($0) } ?? .done)
    }
    markingRead[id] = left - 1
  }
}
