import JSON
import MatrixModel
import ServerQueries

/// An invite link that somebody made, as administrators see it: nobody sees its token again.
package struct UserInviteLink: Listed {
  package let inviter: UserID
  package let link: InviteLink

  package var key: ByteString { link.id }

  init?(_ json: JSON) {
    guard let inviter = UserID(json["user_id"]), let link = InviteLink(json) else { return nil }
    self.inviter = inviter
    self.link = link
  }
}

extension Endpoint {
  fileprivate static let userLinks = Endpoint(
    .get, "/_matrix/client/unstable/martlet.administration/invite_links", .administrator, rateLimited: true)
  fileprivate static let revokeUserLink = Endpoint(
    .delete, "/_matrix/client/unstable/martlet.administration/invite_links/{linkId}", .administrator, rateLimited: true)
}

/// Documentation/Extensions.md, "martlet.invite_links".
extension Query {
  /// The links of all users, the newest first.
  package static func userInviteLinks(from: Int64?, limit: Int) -> Query<PagedList<UserInviteLink>.Page> {
    let parameters = URLQuery().adding("from", from).adding("limit", limit)
    return Query<PagedList<UserInviteLink>.Page>(.userLinks, Endpoint.userLinks.path(), parameters: parameters) { json in
      json.page("invite_links", from: from, total: "total") { UserInviteLink($0) }
    }
  }

  /// Ends any user's link at once.
  package static func revokeUserInviteLink(_ id: ByteString) -> Query<Void> {
    Query<Void>(.revokeUserLink, Endpoint.revokeUserLink.path(id))
  }
}
