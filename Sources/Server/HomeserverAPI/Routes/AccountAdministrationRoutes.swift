import HTTPServer
import JSON
import MatrixModel
import ServerAccounts

/// What the standard lets administrators do with accounts. Spec: Client-Server API, "Server Administration".
extension Routes {
  mutating func addAccountAdministrationRoutes() {
    let (accounts, audit) = (homeserver.accounts, homeserver.audit)
    addWhoIsRoute()

    on(.getAdminLockUser) { request, session in
      let account = try await accounts.moderated(try request.path("userId"), by: session)
      return .json { $0.object { $0.member("locked", account.standing.isLocked) } }
    }

    on(.setAdminLockUser) { request, session in
      let isLocked = try await request.object().requiredBool("locked")
      let userID: UserID = try request.path("userId")
      try await audit.record(isLocked ? "user.lock" : "user.unlock", of: userID.string, by: .user(session.userID)) {
        let account = try await accounts.moderated(userID, by: session, changes: true)
        try await accounts.setLocked(account.userID, isLocked)
      }
      return .json { $0.object { $0.member("locked", isLocked) } }
    }

    on(.getAdminSuspendUser) { request, session in
      let account = try await accounts.moderated(try request.path("userId"), by: session)
      return .json { $0.object { $0.member("suspended", account.standing.isSuspended) } }
    }

    on(.setAdminSuspendUser) { request, session in
      let isSuspended = try await request.object().requiredBool("suspended")
      let userID: UserID = try request.path("userId")
      try await audit.record(isSuspended ? "user.suspend" : "user.unsuspend", of: userID.string, by: .user(session.userID)) {
        let account = try await accounts.moderated(userID, by: session, changes: true)
        try await accounts.setSuspended(account.userID, isSuspended)
      }
      return .json { $0.object { $0.member("suspended", isSuspended) } }
    }
  }

  private mutating func addWhoIsRoute() {
    let (accounts, devices) = (homeserver.accounts, homeserver.devices)

    on(.getWhoIs) { request, session in
      let userID: UserID = try request.path("userId")
      guard session.isAdmin || userID == session.userID else {
        throw MatrixError.forbidden("Only administrators may look up others.")
      }
      _ = try await accounts.existing(userID)
      return Self.whois(userID, try await devices.all(of: userID))
    }
  }

  /// What is known of a user's devices.
  static func whois(_ userID: UserID, _ devices: [Devices.Device]) -> Response {
    .json(capacity: 1_024) { writer in
      writer.object { writer in
        writer.member("user_id", userID)
        writer.key("devices")
        writer.object { writer in for device in devices { whois(device, to: &writer) } }
      }
    }
  }

  /// One session of one connection: what is known of a device.
  private static func whois(_ device: Devices.Device, to writer: inout JSONWriter) {
    writer.key(device.deviceID.text)
    writer.object { writer in
      writer.key("sessions")
      writer.array { writer in
        writer.object { writer in
          writer.key("connections")
          writer.array { writer in
            writer.object { writer in
              if let address = device.lastSeenAddress { writer.member("ip", address) }
              writer.member("last_seen", device.lastSeen)
            }
          }
        }
      }
    }
  }
}
