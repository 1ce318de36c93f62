import JSON
import MatrixModel

/// Someone to be invited by e-mail address or phone number. Spec: `Invite3pid` of `POST /rooms/{roomId}/invite`.
package struct ThirdPartyInvitation: Sendable {
  package let medium: ByteString
  package let address: ByteString
  package let identityServer: ByteString

  /// Throws `M_BAD_JSON`, `M_MISSING_PARAM`.
  package init(_ json: JSON) throws(MatrixError) {
    guard json.isObject else { throw .badJSON("A third-party invitation is an object.") }
    identityServer = try json.requiredText("id_server")
    _ = try json.requiredText("id_access_token")
    medium = try json.requiredText("medium")
    address = try json.requiredText("address")
  }

  /// This server asks no identity server, so that nobody can be found or told by address. Spec: "Common error codes",
  /// `M_SERVER_NOT_TRUSTED`.
  func refusal(status: Int) -> MatrixError {
    MatrixError(
      status: status, .serverNotTrusted,
      "This server trusts no identity server and so cannot invite by address; invite by user ID.")
  }
}

extension Rooms {
  /// Spec: `POST /rooms/{roomId}/invite` by third-party identifier. Throws `M_FORBIDDEN` where the user may not invite, else
  /// `M_SERVER_NOT_TRUSTED` (403).
  package func invite(_ invitation: ThirdPartyInvitation, to roomID: RoomID, by actor: Actor) async throws {
    try await edit(roomID, by: actor) { editor in
      guard editor.room.isJoined(actor.userID) else { throw MatrixError.forbidden("You are not in this room.") }
      guard editor.room.powerLevels.canInvite(by: actor.userID) else {
        throw MatrixError.forbidden("You may not invite people to this room.")
      }
      throw invitation.refusal(status: 403)
    }
  }

  /// Turns a pending `m.room.third_party_invite` into an invitation of the user who proves that they own the address.
  ///
  /// The rules of the room version verify the signature against the keys in the pending invitation.
  /// Spec: `third_party_signed` of `POST /rooms/{roomId}/join`. Throws `M_FORBIDDEN`, `M_INVALID_PARAM`.
  func redeem(_ signed: JSON, by user: UserID, in editor: inout RoomEditor) throws {
    guard let token = signed["token"]?.text, let mxid = UserID(signed["mxid"]), let sender = UserID(signed["sender"]),
      signed["signatures"]?.isObject ?? false
    else { throw MatrixError.invalidParameter("'third_party_signed' has 'sender', 'mxid', 'token' and 'signatures'.") }
    guard mxid == user else { throw MatrixError.forbidden("The third-party invitation is for another user.") }
    guard let offer = editor.room[.thirdPartyInvite, token], offer.sender == sender else {
      throw MatrixError.forbidden("The third-party invitation was withdrawn, or there was none.")
    }
    switch editor.room.membership(of: user) {
    case .join, .invite: return
    default: break
    }
    try appendMember(.invite, of: user, by: offer.sender, reason: nil, to: &editor) { writer in
      writer.key("third_party_invite")
      writer.object { writer in
        writer.member("display_name", offer.content["display_name"]?.text ?? "")
        writer.member("signed", signed)
      }
    }
  }
}
