import JSON
import MatrixModel
import RoomRules

extension Rooms {
  /// Sends a message event. The same transaction ID from the same device gives the same event, also after a restart.
  ///
  /// Spec: `PUT /rooms/{roomId}/send/{eventType}/{txnId}`. Throws `MatrixError`.
  package func send(
    _ type: EventType, _ content: JSON, to roomID: RoomID, by actor: Actor, transactionID: TransactionID
  ) async throws -> EventID {
    if type == .redaction {
      guard let redacted = EventID(content["redacts"]) else {
        throw MatrixError.badJSON("'redacts' of a redaction is an event ID.")
      }
      return try await redact(redacted, in: roomID, content, by: actor, transactionID: transactionID)
    }
    let scope = "send/\(roomID)/\(type)"
    return try await edit(roomID) { editor in
      if let sent = try self.sentEvent(transactionID, scope: scope, by: actor, in: editor.transaction) { return sent }
      try self.checkPace(of: actor.userID, sending: type, in: editor)
      let event = try editor.append(
        RoomEditor.Draft(
          type: type, sender: actor.userID, content: content, origin: actor.origin(of: transactionID),
          timestamp: actor.timestamp))
      try self.remember(event, transactionID, scope: scope, by: actor, in: editor.transaction)
      return event.eventID
    }
  }

  /// Sets one entry of the room's state. The same content as it has now changes nothing and gives the same event.
  ///
  /// Spec: `PUT /rooms/{roomId}/state/{eventType}/{stateKey}`. Throws `MatrixError`.
  package func setState(
    _ type: EventType, _ stateKey: ByteString, _ content: JSON, in roomID: RoomID, by actor: Actor
  ) async throws -> EventID {
    try await edit(roomID) { editor in
      if type == .canonicalAlias { try self.checkAliases(of: content, in: editor) }
      let content = type == .member ? try self.vetted(content, of: stateKey, by: actor.userID, in: editor) : content
      if editor.room.isJoined(actor.userID), let current = editor.room[type, stateKey], current.sender == actor.userID,
        (try? current.content.canonical()) == (try? content.canonical())
      {
        return current.eventID
      }
      let event = try editor.append(
        RoomEditor.Draft(
          type: type, sender: actor.userID, stateKey: stateKey, content: content, timestamp: actor.timestamp))
      if type == .guestAccess { try self.removeGuests(from: &editor) }
      if type == .member, stateKey == actor.userID.text { try self.followReplacement(actor.userID, in: editor) }
      return event.eventID
    }
  }

  /// Redacts an event: one's own, or with the power level for it anyone's.
  ///
  /// Spec: `PUT /rooms/{roomId}/redact/{eventId}/{txnId}`. Throws `MatrixError`.
  package func redact(
    _ eventID: EventID, in roomID: RoomID, _ content: JSON, by actor: Actor, transactionID: TransactionID
  ) async throws -> EventID {
    let scope = "redact/\(roomID)/\(eventID)"
    return try await edit(roomID) { editor in
      if let sent = try self.sentEvent(transactionID, scope: scope, by: actor, in: editor.transaction) { return sent }
      guard editor.room.isJoined(actor.userID) else { throw MatrixError.forbidden("You are not in this room.") }
      let loader = RoomLoader(transaction: editor.transaction)
      guard let target = try loader.event(eventID), target.room == editor.room.number else {
        throw MatrixError.notFound("There is no such event in this room.")
      }
      guard !actor.isSuspended || target.sender == actor.userID else { throw MatrixError.userSuspended() }
      let levels = editor.room.powerLevels
      guard levels.canRedact(eventOf: target.sender, by: actor.userID) else {
        throw MatrixError.forbidden("You may not remove messages of others in this room.")
      }
      let redaction = try editor.append(
        RoomEditor.Draft(
          type: .redaction, sender: actor.userID,
          content: try editor.room.version.redactionContent(content, redacts: eventID),
          redacts: editor.room.version.redactsInContent ? nil : eventID, origin: actor.origin(of: transactionID)))
      try editor.redact(target, because: redaction)
      if target.type == .guestAccess { try self.removeGuests(from: &editor) }
      try self.remember(redaction, transactionID, scope: scope, by: actor, in: editor.transaction)
      return redaction.eventID
    }
  }
}

extension Rooms.Actor {
  func origin(of transactionID: TransactionID) -> StoredEvent.Origin? {
    deviceID.map { StoredEvent.Origin(deviceID: $0, transactionID: transactionID) }
  }
}

extension RoomVersion {
  /// The content a redaction has in this version: with `redacts` or without.
  fileprivate func redactionContent(_ content: JSON, redacts: EventID) throws -> JSON {
    try content.replacing(["redacts"]) { if redactsInContent { $0.member("redacts", redacts) } }
  }
}
