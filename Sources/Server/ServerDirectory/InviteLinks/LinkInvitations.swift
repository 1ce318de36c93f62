import Database
import JSON
import MatrixModel
import ServerAccounts
import ServerRooms

/// What invite links lead to: who may make one for a room, what its holder sees before they join, and the joining.
///
/// The server looks at the inviter's rights each time. The links of a member who has left the room, or may not invite any more,
/// are as unknown as any other text. Extension: capability `martlet.invite_links`.
package final class LinkInvitations: Sendable {
  /// What the holder of a link sees.
  package struct Invitation: Sendable {
    package let inviter: UserID
    package let profile: Profile
    /// nil for a link to the inviter.
    package let room: RoomPreview?
    /// Whether the holder can create an account with the link, or needs none of its help.
    package let letsRegister: Bool
  }

  package let links: InviteLinks
  private let database: Database
  private let rooms: Rooms
  private let direct: DirectRooms
  private let isRegistrationOpen: Bool

  package init(database: Database, accounts: Accounts, rooms: Rooms, direct: DirectRooms) {
    links = accounts.inviteLinks
    isRegistrationOpen = accounts.configuration.registration == .open
    self.database = database
    self.rooms = rooms
    self.direct = direct
  }

  /// Makes a link of the user, to themselves or to a room that they may invite to.
  ///
  /// Throws `M_FORBIDDEN` if they may not, and what `InviteLinks.create` throws.
  package func create(
    _ request: InviteLinks.Request, by user: UserID
  ) async throws -> (link: InviteLink, token: ByteString) {
    try await database.write { [self] transaction in
      if let roomID = request.roomID {
        guard let room = try rooms.cache.newest(roomID, in: transaction),
          try rooms.letsInvite(user, to: room, in: transaction)
        else { throw MatrixError.forbidden("You may not invite to this room.") }
      }
      return try links.create(transaction, request, by: user)
    }
  }

  /// The names of the rooms that links lead to.
  package func roomNames(of links: [InviteLink]) async throws -> [RoomID: ByteString] {
    try await database.read { [rooms] transaction in
      var names: [RoomID: ByteString] = [:]
      for roomID in Set(links.compactMap(\.roomID)) {
        guard let room = try rooms.cache.snapshot(of: roomID, in: transaction) else { continue }
        names[roomID] = RoomPreview(of: room).name
      }
      return names
    }
  }

  /// What a token invites to. Throws `M_NOT_FOUND` if it is not valid for this user, nil for somebody without an account.
  package func describe(_ token: ByteString, for user: UserID?) async throws -> Invitation {
    let found = try await database.read { [self] transaction -> Invitation? in
      guard let link = try links.valid(transaction, token, for: user) else { return nil }
      var preview: RoomPreview?
      if let roomID = link.roomID {
        guard let room = try rooms.cache.snapshot(of: roomID, in: transaction),
          try rooms.letsInvite(link.inviter, to: room, in: transaction)
        else { return nil }
        preview = RoomPreview(of: room)
      }
      return Invitation(
        inviter: link.inviter, profile: try Profiles.profile(transaction, of: link.inviter), room: preview,
        letsRegister: try isRegistrationOpen || links.allowsRegistration(transaction, link))
    }
    guard let found else { throw Self.notValid }
    return found
  }

  /// Takes the user into the room of a link, in the inviter's name, or opens the direct room with the inviter. A user who is in
  /// the room already changes nothing and is no use of the link.
  ///
  /// Throws `M_NOT_FOUND` if the token is not valid, `M_FORBIDDEN` for a user who may not join, `M_INVALID_PARAM` for the user's
  /// own link to themselves, and what joining, `DirectRooms.Request` and `DirectRooms.open` throw.
  ///
  /// - Parameter initialState: of a direct room, if one is made. As `createRoom` takes it.
  package func join(_ token: ByteString, initialState: JSON? = nil, by actor: Rooms.Actor) async throws -> RoomID {
    try await database.write { [self] transaction in
      guard let link = try links.valid(transaction, token, for: actor.userID) else { throw Self.notValid }
      guard let roomID = link.roomID else { return try openDirectRoom(link, initialState, by: actor, transaction) }
      guard let room = try rooms.cache.newest(roomID, in: transaction),
        try rooms.letsInvite(link.inviter, to: room, in: transaction)
      else { throw Self.notValid }
      if room.isJoined(actor.userID) { return roomID }
      var editor = RoomEditor(room, in: transaction, of: rooms)
      try rooms.join(actor.userID, invitedBy: link.inviter, to: &editor)
      try links.use(transaction, link, by: actor.userID)
      editor.stage()
      return roomID
    }
  }

  private func openDirectRoom(
    _ link: InviteLink, _ initialState: JSON?, by actor: Rooms.Actor, _ transaction: WriteTransaction
  ) throws -> RoomID {
    guard link.inviter != actor.userID else { throw MatrixError.invalidParameter("This is your own invite link.") }
    if try IgnoredUsers.of(link.inviter, in: transaction).contains(actor.userID) { throw Self.notValid }
    let request = try DirectRooms.Request(
      with: link.inviter, initialState: initialState, defaultVersion: direct.defaultVersion)
    let roomID = try direct.open(request, by: actor, in: transaction).roomID
    try links.use(transaction, link, by: actor.userID)
    return roomID
  }

  /// The one answer for whatever is wrong with a token.
  private static let notValid = MatrixError.notFound("This invite link is not valid, or not any more.")
}
