import Database
import JSON
import MatrixModel
import RoomRules

extension Rooms {
  /// Makes a room with all its first events in one commit, in the order that the spec gives.
  ///
  /// Spec: `POST /createRoom`. Throws `M_ROOM_IN_USE`, `M_INVALID_ROOM_STATE`, `M_INVALID_PARAM`.
  package func create(_ creation: RoomCreation, by actor: Actor) async throws -> RoomID {
    if creation.isPublished { try requireMayPublish(actor) }
    let creation = actor.isShadowBanned ? creation.unseen : creation
    for user in creation.invited { try await directory.provideUser(user) }
    return try await database.write { try self.create(creation, by: actor, in: $0).roomID }
  }

  /// The same inside a command.
  package func create(_ creation: RoomCreation, by actor: Actor, in transaction: WriteTransaction) throws -> RoomSnapshot {
    let alias = try freeAlias(creation.aliasLocalpart, in: transaction)
    for user in creation.invited { try requireInvitable(user, in: transaction) }
    var editor = RoomEditor(
      founding: creation.version, roomID: creation.version.roomIDIsCreateHash ? nil : randomRoomID(), in: transaction,
      of: self)
    do {
      try appendFoundation(of: creation, by: actor.userID, alias: alias, to: &editor)
    } catch let error as MatrixError where error.code == .forbidden {
      throw MatrixError(status: 400, .invalidRoomState, error.message)
    }
    let room = editor.room
    try transaction.execute(
      "INSERT INTO room(room, room_id, version, created) VALUES ($1, $2, $3, $4)", room.number, room.roomID,
      room.version.name, configuration.clock.now())
    for observer in observers { try observer.created(room, isPublished: creation.isPublished, in: transaction) }
    if let alias { try insert(alias, of: room.number, by: actor, in: transaction) }
    editor.stage()
    return room
  }

  private func appendFoundation(
    of creation: RoomCreation, by creator: UserID, alias: RoomAlias?, to editor: inout RoomEditor
  ) throws {
    var state = InitialStateList(creator: creator)
    try checkPowerLevels(of: creation)
    try editor.append(state.draft(.create, try createContent(of: creation, by: creator)))
    try appendMember(.join, of: creator, by: creator, reason: nil, to: &editor)
    try editor.append(state.draft(.powerLevels, try powerLevels(of: creation, by: creator)))
    if let alias {
      try editor.append(state.draft(.canonicalAlias, try JSON.object { $0.member("alias", alias) }))
    }
    try setPreset(creation.preset, in: &state)
    for event in creation.initialState { state.set(event.type, key: event.stateKey, event.content) }
    if let name = creation.name { state.set(.name, try JSON.object { $0.member("name", name) }) }
    if let topic = creation.topic { state.set(.topic, try topicContent(topic)) }
    for draft in state.drafts {
      if draft.type == .canonicalAlias { try checkAliases(of: draft.content, in: editor) }
      if draft.type == .member { _ = try vetted(draft.content, of: draft.stateKey ?? "", by: creator, in: editor) }
      try editor.append(draft)
    }
    for user in creation.invited where user != creator {
      try appendMember(.invite, of: user, by: creator, reason: nil, to: &editor) { writer in
        if creation.isDirect { writer.member("is_direct", true) }
      }
    }
  }

  private func checkPowerLevels(of creation: RoomCreation) throws(MatrixError) {
    let initial = creation.initialState.filter { $0.type == .powerLevels }.map(\.content)
    for content in initial + (creation.powerLevelOverride.map { [$0] } ?? []) {
      guard let fault = PowerLevels.fault(in: content, of: creation.version) else { continue }
      throw MatrixError(status: 400, .invalidRoomState, fault)
    }
  }

  private func createContent(of creation: RoomCreation, by creator: UserID) throws -> JSON {
    let version = creation.version
    var additional = creation.additionalCreators.filter { $0 != creator }
    if version.hasPrivilegedCreators, creation.preset == .trustedPrivateChat {
      additional += creation.invited.filter { $0 != creator && !additional.contains($0) }
    }
    let base = try creation.creationContent ?? JSON.object { _ in }
    return try base.replacing(["creator", "room_version", "additional_creators"]) { writer in
      writer.member("room_version", version.name)
      if version.createNamesCreator { writer.member("creator", creator) }
      guard !additional.isEmpty else { return }
      writer.array("additional_creators", additional) { $1.write($0) }
    }
  }

  private func powerLevels(of creation: RoomCreation, by creator: UserID) throws -> JSON {
    let hasCreators = creation.version.hasPrivilegedCreators
    let levels = try JSON.object { writer in
      writer.key("users")
      writer.object { writer in
        if hasCreators { return }
        writer.key(creator)
        writer.write(100)
        for user in creation.preset == .trustedPrivateChat ? creation.invited : [] where user != creator {
          writer.key(user)
          writer.write(100)
        }
      }
      writer.member("users_default", 0)
      writer.key("events")
      writer.object { writer in
        for (type, level) in Self.stateLevels(tombstone: hasCreators ? 150 : 100) {
          writer.key(type)
          writer.write(level)
        }
      }
      writer.member("events_default", 0)
      writer.member("state_default", 50)
      writer.member("ban", 50)
      writer.member("kick", 50)
      writer.member("redact", 50)
      writer.member("invite", creation.preset == .publicChat ? 50 : 0)
      writer.member("historical", 100)
    }
    guard let override = creation.powerLevelOverride else { return levels }
    let overridden = Set(override.members.map(\.key))
    return try JSON.object { writer in
      for member in levels.members where !overridden.contains(member.key) {
        writer.key(member.key)
        writer.write(member.value)
      }
      for member in override.members {
        writer.key(member.key)
        writer.write(member.value)
      }
    }
  }

  /// What takes more than the default of 50, and what takes less: everybody may be in the room's call (MSC3401). Spec: `m.room.tombstone` of room version 12 is for creators (150).
  private static func stateLevels(tombstone: Int) -> [(EventType, Int)] {
    [
      (.avatar, 50), (.canonicalAlias, 50), (.encryption, 100), (.historyVisibility, 100), (.name, 50), (.powerLevels, 100),
      (.serverACL, 100), (.tombstone, tombstone), ("org.matrix.msc3401.call.member", 0)
    ]
  }

  /// Spec: `POST /createRoom`, the table of presets.
  private func setPreset(_ preset: RoomCreation.Preset, in state: inout InitialStateList) throws {
    let isPublic = preset == .publicChat
    state.set(.joinRules, try JSON.object { $0.member("join_rule", isPublic ? "public" : "invite") })
    state.set(.historyVisibility, try JSON.object { $0.member("history_visibility", "shared") })
    state.set(.guestAccess, try JSON.object { $0.member("guest_access", isPublic ? "forbidden" : "can_join") })
  }

  /// With the structured form of v1.15 beside the plain one. Spec: `m.room.topic`.
  private func topicContent(_ topic: String) throws -> JSON {
    try JSON.object { writer in
      writer.member("topic", topic)
      writer.key("m.topic")
      writer.object { writer in
        writer.key("m.text")
        writer.array { $0.object { $0.member("body", topic) } }
      }
    }
  }

  private func freeAlias(_ localpart: ByteString?, in transaction: WriteTransaction) throws -> RoomAlias? {
    guard let localpart else { return nil }
    guard !localpart.isEmpty, !localpart.utf8.contains(UInt8(ascii: ":")),
      let alias = RoomAlias("#\(localpart):\(configuration.serverName)")
    else { throw MatrixError.invalidParameter("'room_alias_name' is the part of an alias between '#' and ':'.") }
    guard try room(of: alias, in: transaction) == nil else {
      throw MatrixError(status: 400, .roomInUse, "The alias \(alias) is taken.")
    }
    return alias
  }

  private func requireInvitable(_ user: UserID, in transaction: WriteTransaction) throws {
    do { try requireAccount(user, in: transaction) } catch let error as MatrixError {
      throw MatrixError(status: 400, .invalidParameter, error.message)
    }
  }

  /// `!` and 18 random letters. Room versions before 12.
  func randomRoomID() -> RoomID {
    let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
    var generator = SystemRandomNumberGenerator()
    let opaque = (0..<18).map { _ in letters[Int.random(in: 0..<letters.count, using: &generator)] }
    return RoomID(trusted: ByteString("!" + String(decoding: opaque, as: UTF8.self) + ":" + configuration.serverName.string))
  }
}

/// The state events of a new room: one per type and key, a later one in the place of an earlier.
private struct InitialStateList {
  let creator: UserID
  private(set) var drafts: [RoomEditor.Draft] = []

  init(creator: UserID) { self.creator = creator }

  mutating func set(_ type: EventType, key stateKey: ByteString = "", _ content: JSON) {
    let draft = RoomEditor.Draft(type: type, sender: creator, stateKey: stateKey, content: content)
    if let index = drafts.firstIndex(where: { $0.type == type && $0.stateKey == stateKey }) {
      drafts[index] = draft
    } else {
      drafts.append(draft)
    }
  }

  func draft(_ type: EventType, _ content: JSON) -> RoomEditor.Draft {
    RoomEditor.Draft(type: type, sender: creator, stateKey: "", content: content)
  }
}
