import HTTPServer
import Homeserver
import JSON
import MatrixModel
import Telemetry

/// Logging in and out, and who one is.
extension Routes {
  mutating func addLoginRoutes() {
    let accounts = homeserver.accounts
    let server = homeserver.configuration.serverName
    let guesses = loginGuesses

    on(.getLoginFlows) { _ in
      .json(Array(#"{"flows":[{"type":"m.login.password"},{"type":"m.login.application_service"}]}"#.utf8))
    }

    on(.login, budget: .authentication) { request in
      let body = try await request.object()
      if try body.requiredText("type") == "m.login.application_service" {
        let (userID, login) = try await accounts.logIn(
          try UserIdentifier(body), by: try request.appService(), device: try DeviceRequest(body, of: request))
        return .login(userID, login, server)
      }
      guard try body.requiredText("type") == "m.login.password" else {
        throw MatrixError.unknown(status: 400, "This server has no login of this type.")
      }
      let user = try UserIdentifier(body)
      let password = Redacted(try body.requiredText("password").string)
      let device = try DeviceRequest(body, of: request)
      // Guessing one account's password from many addresses is bounded too.
      if let userID = user.userID(on: server) { try guesses(userID) }
      let (userID, login) = try await accounts.logIn(user, password: password, device: device)
      return .login(userID, login, server)
    }

    on(.logout) { _, session in
      try await accounts.logOut(session)
      return .emptyObject
    }

    on(.logoutAll) { _, session in
      try await accounts.logOutEverywhere(session.userID)
      return .emptyObject
    }

    on(.getTokenOwner) { _, session in
      .json { writer in
        writer.object { writer in
          writer.member("user_id", session.userID)
          if session.hasDevice { writer.member("device_id", session.deviceID) }
          writer.member("is_guest", session.isGuest)
        }
      }
    }
  }
}
