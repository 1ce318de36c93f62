import HTTPServer
import JSON
import MatrixModel
import ServerDirectory
import ServerRooms

/// Ours: members and users in pages that keep to the moment of the first one. Capability `martlet.paging`.
extension Routes {
  mutating func addPagingRoutes() {
    let (rooms, directory) = (homeserver.rooms, homeserver.userDirectory)

    on(.getMemberPage) { request, session in
      let parameters = try request.query()
      let page = try await rooms.memberPage(
        of: try request.path("roomId"), for: session.userID, membership: try parameters.membership("membership") ?? .join,
        from: try parameters.pageToken(),
        limit: try parameters.pageLimit() ?? Rooms.memberPageDefault)
      return .json(capacity: page.members.count * 192 + 64) { writer in
        writer.object { writer in
          writer.array("members", page.members) { member, writer in
            Self.write(
              user: member.stateKey ?? "", member.content["displayname"]?.text, member.content["avatar_url"]?.text,
              to: &writer)
          }
          Self.writeEnd(page.next, to: &writer)
        }
      }
    }

    on(.getUserPage) { request, session in
      let parameters = try request.query()
      let page = try await directory.page(
        parameters.text("search") ?? "", by: session.userID, from: try parameters.pageToken(),
        limit: try parameters.pageLimit() ?? UserDirectory.pageDefault)
      return .json(capacity: page.users.count * 192 + 64) { writer in
        writer.object { writer in
          writer.array("users", page.users) {
            Self.write(user: $0.userID.text, $0.profile.displayName, $0.profile.avatarURL, to: &$1)
          }
          Self.writeEnd(page.next, to: &writer)
        }
      }
    }
  }

  private static func write(
    user: ByteString, _ displayName: ByteString?, _ avatarURL: ByteString?, to writer: inout JSONWriter
  ) {
    writer.object { writer in
      writer.member("user_id", user)
      if let displayName { writer.member("display_name", displayName) }
      if let avatarURL { writer.member("avatar_url", avatarURL) }
    }
  }

  private static func writeEnd(_ next: PageToken?, to writer: inout JSONWriter) {
    writer.member("has_next", next != nil)
    if let next { writer.member("next_batch", next.text) }
  }
}

extension QueryParameters {
  /// Throws `M_INVALID_PARAM` for what is no token of such a page. An empty one counts as not given.
  fileprivate func pageToken() throws -> PageToken? {
    guard let text = text("from"), !text.isEmpty else { return nil }
    guard let token = PageToken(text) else {
      throw MatrixError.invalidParameter("'from' is not a 'next_batch' of this list.")
    }
    return token
  }
}
