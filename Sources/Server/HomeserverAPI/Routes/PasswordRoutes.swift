import HTTPServer
import JSON
import MatrixModel
import ServerAccounts
import Telemetry

/// What a user does with the account as a whole; each asks for the password again.
extension Routes {
  mutating func addPasswordRoutes() {
    let accounts = homeserver.accounts

    on(.changePassword, budget: .authentication) { request in
      let session = try await request.session()
      let body = try await request.object()
      let password = Redacted(try body.requiredText("new_password").string)
      let logsOutOthers = try body.optionalBool("logout_devices") ?? true
      try Accounts.checkStrength(of: password)
      guard let session else {
        try await accounts.resetPassword(to: password, logsOut: logsOutOthers, auth: body.given("auth"))
        return .emptyObject
      }
      try await accounts.requirePassword(of: session, for: "account/password", auth: body.given("auth"))
      try await accounts.setPassword(
        password, of: session.userID, loggingOutAllBut: logsOutOthers ? session.deviceID : nil)
      return .emptyObject
    }

    on(.deactivateAccount, budget: .authentication) { request in
      guard let session = try await request.session() else { throw MatrixError.missingToken() }
      let body = try await request.optionalObject()
      let erase = try body.optionalBool("erase") ?? false
      _ = try body.optionalText("id_server")
      try await accounts.requirePassword(of: session, for: "account/deactivate", auth: body.given("auth"))
      try await accounts.deactivate(session.userID, erase: erase)
      // No identifiers of third parties are bound here, so none is left bound.
      return .json(Array(#"{"id_server_unbind_result":"success"}"#.utf8))
    }
  }
}
