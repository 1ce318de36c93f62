import HTTPServer
import Homeserver
import JSON
import MatrixModel
import ServerAccounts
import Telemetry

/// Listing, making and changing accounts.
extension Routes {
  mutating func addUserAdministrationRoutes() {
    let (accounts, server) = (homeserver.accounts, homeserver.configuration.serverName)
    let editor = AccountEditor(homeserver)

    onAdmin(.get, Self.administration + "/v2/users") { request, _ in
      let parameters = try request.query()
      var query = try AccountQuery(parameters)
      query.isDeactivated = try parameters.bool("deactivated") == true ? nil : false
      if try parameters.bool("locked") != true { query.isLocked = false }
      return try await Self.users(query, parameters, accounts)
    }

    onAdmin(.get, Self.administration + "/v3/users") { request, _ in
      let parameters = try request.query()
      var query = try AccountQuery(parameters)
      query.isDeactivated = try parameters.bool("deactivated")
      query.isLocked = try parameters.bool("locked")
      return try await Self.users(query, parameters, accounts)
    }

    onAdmin(.get, Self.administration + "/v2/users/{userId}") { request, _ in
      try await editor.answer(try request.localUser("userId", of: server))
    }

    onAdmin(.put, Self.administration + "/v2/users/{userId}") { request, administrator in
      let userID = try request.localUser("userId", of: server)
      let body = try await request.object()
      let isNew = try await editor.put(userID, body, by: administrator)
      return try await editor.answer(userID, status: isNew ? .created : .ok)
    }

    onAdmin(.get, Self.administration + "/v1/username_available") { request, _ in
      _ = try await accounts.available(TypedName.meant(by: try request.query().required("username")))
      return .json { $0.object { $0.member("available", true) } }
    }
  }

  private static func users(_ query: AccountQuery, _ parameters: QueryParameters, _ accounts: Accounts) async throws -> Response
  {
    let offset = try parameters.offset()
    let page = try await accounts.overviews(
      query, orderedBy: try AccountQuery.Order(parameters.text("order_by")), descending: try parameters.isBackwards(),
      offset: offset)
    return .json(capacity: page.accounts.count * 256 + 64) { writer in
      writer.object { writer in
        writer.list("users", page.accounts) { $0.writeMembers(to: &$1) }
        writer.member("total", page.total)
        let next = JSONWriter.nextOffset(after: page.accounts.count, from: offset, of: page.total)
        if let next { writer.member("next_token", "\(next)") }
      }
    }
  }
}

extension AccountQuery {
  fileprivate init(_ parameters: QueryParameters) throws {
    self.init()
    search = parameters.text("name") ?? parameters.text("user_id")
    if try parameters.bool("guests") == false { isGuest = false }
    isAdmin = try parameters.bool("admins")
    limit = try parameters.limit()
  }
}

extension AccountQuery.Order {
  private static let names: [(StaticString, AccountQuery.Order)] = [
    ("name", .userID), ("is_guest", .isGuest), ("admin", .isAdmin), ("user_type", .userType),
    ("deactivated", .isDeactivated), ("displayname", .displayName), ("avatar_url", .avatarURL), ("creation_ts", .created),
    ("last_seen_ts", .lastSeen), ("locked", .isLocked), ("shadow_banned", .isShadowBanned)
  ]

  /// Throws `M_INVALID_PARAM`.
  fileprivate init(_ name: ByteString?) throws {
    guard let name else {
      self = .userID
      return
    }
    guard let known = Self.names.first(where: { name == $0.0 }) else {
      throw MatrixError.invalidParameter("'order_by' is not an order that users can be listed in.")
    }
    self = known.1
  }
}

extension AccountOverview {
  func writeMembers(to writer: inout JSONWriter) {
    writer.member("name", account.userID)
    writer.member("is_guest", account.standing.isGuest)
    writer.member("admin", account.standing.isAdmin)
    writer.member("user_type", orNull: account.userType)
    writer.member("deactivated", account.isDeactivated)
    writer.member("erased", account.isErased)
    writer.member("shadow_banned", account.standing.isShadowBanned)
    writer.member("displayname", orNull: displayName)
    writer.member("avatar_url", orNull: avatarURL)
    writer.member("creation_ts", account.created)
    writer.member("last_seen_ts", orNull: lastSeen)
    writer.member("locked", account.standing.isLocked)
    writer.member("suspended", account.standing.isSuspended)
  }
}
