import JSON
import MatrixModel
import RoomRules

extension Rooms {
  /// One event that a user wants sent.
  package struct Sending {
    let type: EventType
    /// nil for an event that is no state.
    var stateKey: ByteString?
    let content: JSON
    var origin: StoredEvent.Origin?

    package init(type: EventType, stateKey: ByteString? = nil, content: JSON, origin: StoredEvent.Origin? = nil) {
      self.type = type
      self.stateKey = stateKey
      self.content = content
      self.origin = origin
    }
  }

  /// Sends a message event. The same transaction ID from the same device gives the same event, also after a restart.
  ///
  /// Spec: `PUT /rooms/{roomId}/send/{eventType}/{txnId}`. Throws `MatrixError`.
  package func send(
    _ type: EventType, _ content: JSON, to roomID: RoomID, by actor: Actor, transactionID: TransactionID
  ) async throws -> EventID {
    if type == .redaction {
      return try await redact(
        try Self.redacted(by: content), in: roomID, content, by: actor, transactionID: transactionID)
    }
    let scope = "send/\(roomID)/\(type)"
    let questions = { @Sendable in self.questions(transactionID, scope: scope, by: actor) }
    return try await edit(roomID, by: actor, asking: questions) { editor in
      if let sent = try self.sentEvent(transactionID, scope: scope, by: actor, in: editor.transaction) { return sent }
      let event = try self.appendMessage(
        Sending(type: type, content: content, origin: actor.origin(of: transactionID)), by: actor, to: &editor)
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
    let content = type == .member ? try actor.heard(content) : content
    return try await edit(roomID, by: actor) { editor in
      try self.append(Sending(type: type, stateKey: stateKey, content: content), by: actor, to: &editor)
    }
  }

  /// Redacts an event: the user's own, or with enough power anyone's.
  ///
  /// Spec: `PUT /rooms/{roomId}/redact/{eventId}/{txnId}`. Throws `MatrixError`.
  package func redact(
    _ eventID: EventID, in roomID: RoomID, _ content: JSON, by actor: Actor, transactionID: TransactionID
  ) async throws -> EventID {
    let scope = "redact/\(roomID)/\(eventID)"
    let questions = { @Sendable in self.questions(transactionID, scope: scope, by: actor) }
    return try await edit(roomID, by: actor, asking: questions) { editor in
      if let sent = try self.sentEvent(transactionID, scope: scope, by: actor, in: editor.transaction) { return sent }
      let redaction = try self.appendRedaction(
        of: eventID, Sending(type: .redaction, content: content, origin: actor.origin(of: transactionID)), by: actor,
        to: &editor)
      try self.remember(redaction, transactionID, scope: scope, by: actor, in: editor.transaction)
      return redaction.eventID
    }
  }

  // MARK: Inside a command

  /// What the requests above do, on a room that is being edited. Throws `MatrixError`.
  package func append(_ sending: Sending, by actor: Actor, to editor: inout RoomEditor) throws -> EventID {
    if let stateKey = sending.stateKey { return try appendState(sending, stateKey, by: actor, to: &editor) }
    if sending.type == .redaction {
      return try appendRedaction(of: Self.redacted(by: sending.content), sending, by: actor, to: &editor).eventID
    }
    return try appendMessage(sending, by: actor, to: &editor).eventID
  }

  private static func redacted(by content: JSON) throws -> EventID {
    guard let redacted = EventID(content["redacts"]) else {
      throw MatrixError.badJSON("'redacts' of a redaction is an event ID.")
    }
    return redacted
  }

  private func checkPowerLevels(_ sending: Sending, in editor: RoomEditor) throws {
    guard sending.type == .powerLevels, let fault = PowerLevels.fault(in: sending.content, of: editor.room.version) else {
      return
    }
    throw MatrixError.badJSON(fault)
  }

  private func appendMessage(_ sending: Sending, by actor: Actor, to editor: inout RoomEditor) throws -> StoredEvent {
    try checkPowerLevels(sending, in: editor)
    try checkPace(of: actor.userID, sending: sending.type, in: editor)
    return try editor.append(
      RoomEditor.Draft(
        type: sending.type, sender: actor.userID, content: sending.content, origin: sending.origin,
        timestamp: actor.timestamp))
  }

  private func appendState(
    _ sending: Sending, _ stateKey: ByteString, by actor: Actor, to editor: inout RoomEditor
  ) throws -> EventID {
    let type = sending.type
    try checkPowerLevels(sending, in: editor)
    if type == .canonicalAlias { try checkAliases(of: sending.content, in: editor) }
    let content =
      type == .member ? try vetted(sending.content, of: stateKey, by: actor.userID, in: editor) : sending.content
    if editor.room.isJoined(actor.userID), let current = editor.room[type, stateKey], current.sender == actor.userID,
      (try? current.content.canonical()) == (try? content.canonical())
    {
      return current.eventID
    }
    let event = try editor.append(
      RoomEditor.Draft(
        type: type, sender: actor.userID, stateKey: stateKey, content: content, origin: sending.origin,
        timestamp: actor.timestamp))
    if type == .guestAccess { try removeGuests(from: &editor) }
    if type == .member, stateKey == actor.userID.text { try followReplacement(actor.userID, in: editor) }
    return event.eventID
  }

  private func appendRedaction(
    of eventID: EventID, _ sending: Sending, by actor: Actor, to editor: inout RoomEditor
  ) throws -> StoredEvent {
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
        content: try editor.room.version.redactionContent(sending.content, redacts: eventID),
        redacts: editor.room.version.redactsInContent ? nil : eventID, origin: sending.origin))
    try editor.redact(target, because: redaction)
    if target.type == .guestAccess { try removeGuests(from: &editor) }
    return redaction
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
