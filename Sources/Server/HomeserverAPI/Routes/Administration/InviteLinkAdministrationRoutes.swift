import HTTPServer
import Homeserver
import JSON
import MatrixModel

/// All invite links, for administrators. Nobody sees the tokens.
extension Routes {
  mutating func addInviteLinkAdministrationRoutes() {
    let (invitations, audit) = (homeserver.linkInvitations, homeserver.audit)
    let path = Self.ownAdministration + "/invite_links"

    onAdmin(.get, path) { request, _ in
      let query = try request.query()
      let offset = try query.offset()
      let (found, total) = try await invitations.links.list(from: offset, limit: query.limit())
      let names = try await invitations.roomNames(of: found)
      return .json(capacity: found.count * 256 + 64) { writer in
        writer.object { writer in
          writer.list("invite_links", found) { link, writer in
            writer.member("user_id", link.inviter)
            writer.members(of: link, names)
          }
          writer.member("total", total)
          writer.next("next_from", after: found.count, from: offset, of: total)
        }
      }
    }

    onAdmin(.delete, path + "/{linkId}") { request, administrator in
      let id = request.path("linkId")
      try await audit.record("invite_link.revoke", of: id.string, by: administrator) {
        try await invitations.links.revoke(id, of: nil)
      }
      return .emptyObject
    }
  }
}
