import HTTPServer
import Homeserver
import JSON
import MatrixModel
import Telemetry

/// Who may use an account, and as what: passwords, administration, suspension, validity, the end.
extension Routes {
  mutating func addUserAccessRoutes() {
    addUserPasswordRoutes()
    addUserStandingRoutes()
    addShadowBanRoutes()
    addUserValidityRoute()
    addBorrowedLoginRoute()
    addUserPresenceRoutes()
  }

  private mutating func addUserPasswordRoutes() {
    let (accounts, audit, server) = (homeserver.accounts, homeserver.audit, homeserver.configuration.serverName)

    onAdmin(.post, Self.administration + "/v1/deactivate/{userId}") { request, administrator in
      let userID = try request.localUser("userId", of: server)
      let erases = try await request.optionalObject().optionalBool("erase") ?? false
      try await audit.record("user.deactivate", of: userID.string, by: administrator, details: { $0.member("erase", erases) }) {
        _ = try await accounts.existing(userID)
        try await accounts.deactivate(userID, erase: erases)
      }
      return .json { $0.object { $0.member("id_server_unbind_result", "success") } }
    }

    onAdmin(.post, Self.administration + "/v1/reset_password/{userId}") { request, administrator in
      let userID = try request.localUser("userId", of: server)
      let body = try await request.object()
      let password = Redacted(try body.requiredText("new_password").string)
      let logsOut = try body.optionalBool("logout_devices") ?? true
      try await audit.record(
        "user.reset_password", of: userID.string, by: administrator, details: { $0.member("logout_devices", logsOut) }
      ) { try await accounts.resetPassword(userID, to: password, loggingOut: logsOut) }
      return .emptyObject
    }
  }

  private mutating func addUserStandingRoutes() {
    let (accounts, audit, server) = (homeserver.accounts, homeserver.audit, homeserver.configuration.serverName)

    onAdmin(.get, Self.administration + "/v1/users/{userId}/admin") { request, _ in
      let account = try await accounts.existing(try request.localUser("userId", of: server))
      return .json { $0.object { $0.member("admin", account.standing.isAdmin) } }
    }

    onAdmin(.put, Self.administration + "/v1/users/{userId}/admin") { request, administrator in
      let userID = try request.localUser("userId", of: server)
      let isAdmin = try await request.object().requiredBool("admin")
      if !isAdmin, administrator == .user(userID) {
        throw MatrixError(status: 400, .unknown, "You cannot take your own administration away.")
      }
      try await audit.record("user.admin", of: userID.string, by: administrator, details: { $0.member("admin", isAdmin) }) {
        try await accounts.setAdmin(userID, isAdmin)
      }
      return .emptyObject
    }

    onAdmin(.put, Self.administration + "/v1/suspend/{userId}") { request, administrator in
      let userID = try request.localUser("userId", of: server)
      let isSuspended = try await request.object().requiredBool("suspend")
      try await audit.record(isSuspended ? "user.suspend" : "user.unsuspend", of: userID.string, by: administrator) {
        try await accounts.setSuspended(userID, isSuspended)
      }
      return .json { writer in
        writer.object { writer in
          writer.key(ByteString("user_\(userID)_suspended"))
          writer.write(isSuspended)
        }
      }
    }
  }

  private mutating func addUserValidityRoute() {
    let (accounts, audit) = (homeserver.accounts, homeserver.audit)

    onAdmin(.post, Self.administration + "/v1/account_validity/validity") { request, administrator in
      let body = try await request.object()
      let userID: UserID = try body.requiredIdentifier("user_id")
      let until = try body.optionalInteger("expiration_ts")
      try await audit.record(
        "user.validity", of: userID.string, by: administrator, details: { $0.member("expiration_ts", orNull: until) }
      ) { try await accounts.setValidity(userID, until: until) }
      return .json { $0.object { $0.member("expiration_ts", orNull: until) } }
    }
  }

  private mutating func addShadowBanRoutes() {
    let (accounts, audit, server) = (homeserver.accounts, homeserver.audit, homeserver.configuration.serverName)

    for (method, isShadowBanned) in [(Method.post, true), (.delete, false)] {
      onAdmin(method, Self.administration + "/v1/users/{userId}/shadow_ban") { request, administrator in
        let userID = try request.localUser("userId", of: server)
        try await audit.record(
          isShadowBanned ? "user.shadow_ban" : "user.unshadow_ban", of: userID.string, by: administrator
        ) { try await accounts.setShadowBanned(userID, isShadowBanned) }
        return .emptyObject
      }
    }
  }

  private mutating func addBorrowedLoginRoute() {
    let (accounts, audit, server) = (homeserver.accounts, homeserver.audit, homeserver.configuration.serverName)
    let clock = homeserver.configuration.clock

    onAdmin(.post, Self.administration + "/v1/users/{userId}/login") { request, administrator in
      let userID = try request.localUser("userId", of: server)
      let until = try await request.optionalObject().optionalInteger("valid_until_ms")
      let end = until ?? clock.now() + Self.borrowedLoginMilliseconds
      guard administrator != .user(userID) else {
        throw MatrixError(status: 400, .unknown, "Log in as yourself with your password.")
      }
      let login = try await audit.record(
        "user.login", of: userID.string, by: administrator, details: { $0.member("valid_until_ms", end) }
      ) { try await accounts.logIn(as: userID, named: "Administrator (\(administrator.name))", until: end) }
      return .json { $0.object { $0.member("access_token", login.accessToken.text) } }
    }
  }

  /// Where a user is: devices, rooms, pushers.
  private mutating func addUserPresenceRoutes() {
    let (accounts, devices, rooms) = (homeserver.accounts, homeserver.devices, homeserver.rooms)
    let pushers = homeserver.pushers
    let server = homeserver.configuration.serverName

    onAdmin(.get, Self.administration + "/v1/whois/{userId}") { request, _ in
      let userID = try request.localUser("userId", of: server)
      _ = try await accounts.existing(userID)
      return Self.whois(userID, try await devices.all(of: userID))
    }

    onAdmin(.get, Self.administration + "/v1/users/{userId}/joined_rooms") { request, _ in
      let userID = try request.localUser("userId", of: server)
      _ = try await accounts.existing(userID)
      let joined = try await rooms.joinedRooms(of: userID).sorted()
      return .json(capacity: joined.count * 64 + 64) { writer in
        writer.object { writer in
          writer.array("joined_rooms", joined) { $1.write($0) }
          writer.member("total", joined.count)
        }
      }
    }

    onAdmin(.get, Self.administration + "/v1/users/{userId}/pushers") { request, _ in
      let userID = try request.localUser("userId", of: server)
      _ = try await accounts.existing(userID)
      let all = try await pushers.all(of: userID)
      return .json(capacity: 1_024) { writer in
        writer.object { writer in
          writer.array("pushers", all) { $0.write(to: &$1) }
          writer.member("total", all.count)
        }
      }
    }
  }

  /// How long an administrator's login in a user's name is good where they do not say.
  private static let borrowedLoginMilliseconds: Int64 = 24 * 60 * 60 * 1_000
}
