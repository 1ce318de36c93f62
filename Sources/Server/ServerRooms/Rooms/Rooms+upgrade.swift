import Database
import JSON
import MatrixModel
import RoomRules

extension Rooms {
  /// Replaces a room by one of another version, all in one commit: copies the old room's state to the new room, writes a tombstone and
  /// higher power levels to the old room, and moves the aliases and the directory entry.
  ///
  /// A request during another upgrade of the same room gets that upgrade's room, because aliases and tombstone can lead to only one.
  ///
  /// - Parameter position: as of when the upgrade was asked for; nil for now.
  /// Spec: `POST /rooms/{roomId}/upgrade`; "Room Upgrades", "Server behaviour". Throws `M_FORBIDDEN`.
  package func upgrade(
    _ roomID: RoomID, _ upgrade: RoomUpgrade, by actor: Actor, asOf position: Int64? = nil
  ) async throws -> RoomID {
    let position = position ?? database.committedPosition
    return try await edit(roomID, by: actor) { old in
      guard old.room.isJoined(actor.userID) else { throw MatrixError.forbidden("You are not in this room.") }
      guard old.room.powerLevels.canSend(.tombstone, isState: true, by: actor.userID) else {
        throw MatrixError.forbidden("You may not upgrade this room: it takes the power to send 'm.room.tombstone'.")
      }
      if let tombstone = old.room[.tombstone], tombstone.position > position,
        let replacement = RoomID(tombstone.content["replacement_room"])
      {
        return replacement
      }
      let before = old.room
      var new: RoomEditor
      if upgrade.version.roomIDIsCreateHash {
        new = RoomEditor(founding: upgrade.version, roomID: nil, in: old.transaction, of: self)
        try self.found(&new, upgrade, replacing: before, lastEvent: nil, by: actor.userID)
        try self.entomb(&old, replacement: new.room.roomID, by: actor.userID)
      } else {
        new = RoomEditor(founding: upgrade.version, roomID: self.randomRoomID(), in: old.transaction, of: self)
        let tombstone = try self.entomb(&old, replacement: new.room.roomID, by: actor.userID)
        try self.found(&new, upgrade, replacing: before, lastEvent: tombstone.eventID, by: actor.userID)
      }
      try self.moveListing(from: before, to: new)
      try self.close(&old, by: actor.userID)
      new.stage()
      try self.settings.carry(of: actor.userID, from: before.roomID, to: new.room.roomID, in: old.transaction)
      return new.room.roomID
    }
  }

  // MARK: The new room

  /// Power levels come late: until there are some the creator may set everything, so that nothing of the old state is lost on
  /// an upgrader who may not set all of it.
  private func found(
    _ new: inout RoomEditor, _ upgrade: RoomUpgrade, replacing old: RoomSnapshot, lastEvent: EventID?, by creator: UserID
  ) throws {
    func set(_ type: EventType, key: ByteString = "", _ content: JSON) throws {
      try new.append(RoomEditor.Draft(type: type, sender: creator, stateKey: key, content: content))
    }
    try set(.create, try upgrade.createContent(replacing: old, lastEvent: lastEvent, by: creator))
    try appendMember(.join, of: creator, by: creator, reason: nil, to: &new)
    try set(.joinRules, try upgrade.joinRules(of: old))
    for type in RoomUpgrade.copiedTypes {
      if let event = old[type] { try set(type, event.content) }
    }
    if old[.create]?.content["type"]?.isString("m.space") ?? false {
      for (key, event) in old.state where key.type == .spaceChild && event.content["via"]?.isArray ?? false {
        try set(.spaceChild, key: key.stateKey, event.content)
      }
    }
    try copyBans(of: old, to: &new, by: creator)
    try set(.powerLevels, try upgrade.powerLevels(of: old, by: creator))
  }

  private func copyBans(of old: RoomSnapshot, to new: inout RoomEditor, by creator: UserID) throws {
    let bans = old.members.filter { $0.value.membership == .ban && $0.key != creator }
      .sorted { $0.value.event.position > $1.value.event.position }
    for (user, member) in bans.prefix(RoomUpgrade.bansLimit) {
      // A creator of the new room cannot be banned from it.
      guard new.room.powerLevels.canBan(user, by: creator) else { continue }
      try appendMember(.ban, of: user, by: creator, reason: member.event.content["reason"]?.string, to: &new)
    }
  }

  /// Puts the new room into the tables, with the aliases and the place in the directory that the old one had.
  private func moveListing(from old: RoomSnapshot, to new: RoomEditor) throws {
    let transaction = new.transaction
    try transaction.execute(
      "INSERT INTO room(room, room_id, version, created) VALUES ($1, $2, $3, $4)", new.room.number, new.room.roomID,
      new.room.version.name, configuration.clock.now())
    for observer in observers { try observer.upgraded(old, to: new.room, in: transaction) }
    try transaction.execute("UPDATE room_alias SET room = $1 WHERE room = $2", new.room.number, old.number)
  }

  // MARK: The old room

  @discardableResult
  private func entomb(_ old: inout RoomEditor, replacement: RoomID, by user: UserID) throws -> StoredEvent {
    let content = try JSON.object { writer in
      writer.member("body", "This room has been replaced")
      writer.member("replacement_room", replacement)
    }
    return try old.append(RoomEditor.Draft(type: .tombstone, sender: user, stateKey: "", content: content))
  }

  /// What of it the user may: the canonical alias is the new room's now, and only moderators go on.
  private func close(_ old: inout RoomEditor, by user: UserID) throws {
    var drafts: [RoomEditor.Draft] = []
    if old.room[.canonicalAlias] != nil {
      drafts.append(RoomEditor.Draft(type: .canonicalAlias, sender: user, stateKey: "", content: try JSON.object { _ in }))
    }
    if let levels = try RoomUpgrade.closedPowerLevels(of: old.room) {
      drafts.append(RoomEditor.Draft(type: .powerLevels, sender: user, stateKey: "", content: levels))
    }
    for draft in drafts {
      do { try old.append(draft) } catch let error as MatrixError where error.status == 403 {
        // Refused before anything was written; the tombstone says enough.
        continue
      }
    }
  }

  // MARK: Who follows

  /// Carries what a user has set for the room that this one replaces over to it, once they have joined.
  func followReplacement(_ user: UserID, in editor: RoomEditor) throws {
    guard let old = RoomID(editor.room[.create]?.content["predecessor"]?["room_id"]), editor.room.isJoined(user),
      editor.appended.contains(where: { $0.stateKey == user.text && $0.replaced?.membership != .join }),
      let tombstone = try cache.newest(old, in: editor.transaction)?[.tombstone],
      tombstone.content["replacement_room"]?.text == editor.room.roomID.text
    else { return }
    try settings.carry(of: user, from: old, to: editor.room.roomID, in: editor.transaction)
  }
}
