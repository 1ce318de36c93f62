import HTTPServer
import Homeserver
import JSON
import MatrixModel
import ServerAccounts
import ServerDirectory

/// Ours: links that invite into a room or to a person. Tokens are in bodies only, never in paths, which are logged.
extension Routes {
  mutating func addInviteLinkRoutes() {
    addOwnInviteLinkRoutes()
    addInviteLinkHolderRoutes()
  }

  private mutating func addOwnInviteLinkRoutes() {
    let invitations = homeserver.linkInvitations
    let links = invitations.links

    on(.createInviteLink) { request, session in
      let body = try await request.object()
      let wanted = InviteLinks.Request(
        roomID: try body.optionalIdentifier("room_id"), uses: try body.optionalInteger("uses"),
        lifetimeMilliseconds: try body.optionalInteger("lifetime_ms"))
      let (link, token) = try await invitations.create(wanted, by: session.userID)
      return .json { writer in
        writer.object { writer in
          writer.member("token", token)
          writer.members(of: link)
        }
      }
    }

    on(.getInviteLinks) { _, session in
      let found = try await links.list(of: session.userID)
      let names = try await invitations.roomNames(of: found)
      return .json(capacity: found.count * 256 + 64) { writer in
        writer.object { writer in
          writer.list("invite_links", found) { link, writer in writer.members(of: link, names) }
        }
      }
    }

    on(.revokeInviteLink) { request, session in
      try await links.revoke(request.path("linkId"), of: session.userID)
      return .emptyObject
    }
  }

  private mutating func addInviteLinkHolderRoutes() {
    let invitations = homeserver.linkInvitations

    on(.describeInviteLink, budget: .authentication) { request in
      let token = try await request.object().requiredText("token")
      let invitation = try await invitations.describe(token, for: request.session()?.userID)
      return .json { Self.write(invitation, to: &$0) }
    }

    on(.joinByInviteLink, budget: .authentication) { request, session in
      let body = try await request.object()
      let roomID = try await invitations.join(
        body.requiredText("token"), initialState: body["initial_state"], by: session.actor)
      return .json { $0.object { $0.member("room_id", roomID) } }
    }
  }

  /// Says no more than a person has to know before they join: no ID, address or member of the room.
  private static func write(_ invitation: LinkInvitations.Invitation, to writer: inout JSONWriter) {
    writer.object { writer in
      writer.key("inviter")
      writer.object { writer in
        writer.member("user_id", invitation.inviter)
        if let name = invitation.profile.displayName { writer.member("displayname", name) }
        if let avatar = invitation.profile.avatarURL { writer.member("avatar_url", avatar) }
      }
      if let room = invitation.room {
        writer.key("room")
        writer.object { writer in
          if let name = room.name { writer.member("name", name) }
          if let topic = room.topic { writer.member("topic", topic) }
          if let avatar = room.avatarURL { writer.member("avatar_url", avatar) }
          if let type = room.type { writer.member("room_type", type) }
          writer.member("num_joined_members", room.room.joinedCount)
        }
      }
      writer.member("registration", invitation.letsRegister)
    }
  }
}

extension JSONWriter {
  mutating func members(of link: InviteLink, _ names: [RoomID: ByteString] = [:]) {
    member("id", link.id)
    if let roomID = link.roomID {
      member("room_id", roomID)
      if let name = names[roomID] { member("room_name", name) }
    }
    member("uses", link.uses)
    member("uses_allowed", link.usesAllowed)
    member("created_ts", link.created)
    member("expires_ts", link.expires)
  }
}
