import EventContent
import JSON
import MatrixModel

/// Links that invite into a room or to a person: the server's extension `martlet.invite_links`.
extension Query {
  /// A new link of the user. Its token is only in this answer.
  /// - Parameters:
  ///   - room: nil for a link to the user.
  ///   - uses: how many people it lets in; at most `InviteLinkLimits.mostUses`.
  ///   - lifetimeMilliseconds: at most `InviteLinkLimits.longestMilliseconds`.
  public static func createInviteLink(
    to room: RoomID?, uses: Int64, lifetimeMilliseconds: Int64
  ) -> Query<NewInviteLink> {
    let body = JSONWriter.object { writer in
      if let room { writer.member("room_id", room) }
      writer.member("uses", uses)
      writer.member("lifetime_ms", lifetimeMilliseconds)
    }
    return Query<NewInviteLink>(.createInviteLink, Endpoint.createInviteLink.path(), body: body) { json in
      guard let token = json.text("token"), let link = InviteLink(json) else { return nil }
      return NewInviteLink(token: token, link: link)
    }
  }

  /// The user's links, the newest first.
  public static func inviteLinks() -> Query<[InviteLink]> {
    Query<[InviteLink]>(.getInviteLinks, Endpoint.getInviteLinks.path()) { json in
      json["invite_links"]?.elements.compactMap { InviteLink($0) }
    }
  }

  /// Ends a link at once.
  public static func revokeInviteLink(_ id: ByteString) -> Query<Void> {
    Query<Void>(.revokeInviteLink, Endpoint.revokeInviteLink.path(id))
  }

  /// What a token invites to; for people without an account as well. Refused with 404 if it is not valid, for whatever reason.
  public static func invitation(_ token: ByteString) -> Query<LinkInvitation> {
    Query<LinkInvitation>(
      .describeInviteLink, Endpoint.describeInviteLink.path(), body: JSONWriter.object { $0.member("token", token) }
    ) { LinkInvitation($0) }
  }
}

/// An invite link as its maker sees it.
public struct InviteLink: Sendable {
  /// Names the link; it lets nobody in.
  public let id: ByteString
  /// nil for a link to its maker.
  public let room: RoomID?
  public let roomName: ByteString?
  public let uses: Int64
  public let usesAllowed: Int64
  /// Milliseconds since 1970.
  public let expires: Int64

  /// Whether it still lets people in.
  package func isValid(at time: Int64) -> Bool { expires > time && uses < usesAllowed }

  package init?(_ json: JSON) {
    guard let id = json.text("id"), let expires = json.integer("expires_ts") else { return nil }
    self.id = id
    self.expires = expires
    room = RoomID(json["room_id"])
    roomName = ShownName.read(json["room_name"])
    uses = json.integer("uses") ?? 0
    usesAllowed = json.integer("uses_allowed") ?? 0
  }
}

/// A link that was just made.
public struct NewInviteLink: Sendable {
  public let token: ByteString
  public let link: InviteLink
}

/// What somebody sees who was given a link.
public struct LinkInvitation: Sendable {
  public struct Room: Sendable {
    public let name: ByteString?
    public let topic: ByteString?
    public let avatar: MediaURI?
    public let isSpace: Bool
    public let memberCount: Int
  }

  public let inviter: UserID
  public let inviterName: ByteString?
  public let inviterAvatar: MediaURI?
  /// nil for a link to the inviter.
  public let room: Room?
  /// Whether an account can be created with the link.
  public let letsRegister: Bool

  init?(_ json: JSON) {
    guard let inviter = json["inviter"], let user = UserID(inviter["user_id"]) else { return nil }
    self.inviter = user
    inviterName = ShownName.read(inviter["displayname"])
    inviterAvatar = MediaURI(inviter["avatar_url"])
    room = json["room"].map { room in
      Room(
        name: ShownName.read(room["name"]), topic: room.text("topic"), avatar: MediaURI(room["avatar_url"]),
        isSpace: room["room_type"]?.isString("m.space") ?? false, memberCount: room["num_joined_members"]?.count32 ?? 0)
    }
    letsRegister = json.bool("registration") ?? false
  }
}

/// What links the user may make.
public struct InviteLinkLimits: Sendable, Equatable {
  public let mostUses: Int64
  public let longestMilliseconds: Int64
}

extension Capabilities {
  /// nil if the user may not make links here.
  public var inviteLinks: InviteLinkLimits? {
    guard let links = all["martlet.invite_links"], links.bool("create") ?? false,
      let uses = links.integer("most_uses"), let longest = links.integer("longest_ms"), uses > 0, longest > 0
    else { return nil }
    return InviteLinkLimits(mostUses: uses, longestMilliseconds: longest)
  }
}
