import HTTPServer
import JSON
import MatrixModel
import ServerAccounts
import Telemetry

/// Becoming a user.
extension Routes {
  mutating func addRegistrationRoutes() {
    let accounts = homeserver.accounts
    let server = homeserver.configuration.serverName
    let services = homeserver.appServices
    addSharedSecretRoutes()
    addRegistrationCheckRoutes()

    on(.register, budget: .authentication) { request in
      let kind = try request.query().text("kind") ?? "user"
      if kind == "guest" {
        // Of a guest's body nothing else counts.
        let body = try await request.optionalObject()
        let name = try body.optionalText("initial_device_display_name")?.string
        let (userID, login) = try await accounts.registerGuest(
          DeviceRequest(displayName: name, address: request.http.peer.address))
        return .login(userID, login, server)
      }
      guard kind == "user" else { throw MatrixError.invalidParameter("'kind' is neither user nor guest.") }
      let body = try await request.object()
      var registration = RegistrationRequest(device: try DeviceRequest(body, of: request))
      registration.username = try body.optionalText("username")
      registration.password = try body.optionalText("password").map { Redacted($0.string) }
      registration.inhibitsLogin = try body.optionalBool("inhibit_login")
      registration.guestToken = try body.optionalText("guest_access_token").map { AccessTokenHash(of: $0) }
      registration.auth = body.given("auth")
      if try body.optionalText("type") == "m.login.application_service" {
        let (userID, login) = try await accounts.register(registration, by: try request.appService(), services)
        return .login(userID, login, server)
      }
      registration.username = registration.username.map(TypedName.meant)
      let (userID, login) = try await accounts.register(registration)
      return .login(userID, login, server)
    }
  }

  /// The way in for tools that know the server's secret, where it has one.
  private mutating func addSharedSecretRoutes() {
    guard let shared = SharedSecretRegistration(homeserver.accounts) else { return }
    let server = homeserver.configuration.serverName
    let path = "/_synapse/admin/v1/register"

    on(.get, path, budget: .authentication) { _ in
      let nonce = shared.nonce()
      return .json { $0.object { $0.member("nonce", nonce) } }
    }
    on(.post, path, budget: .authentication) { request in
      let (userID, login) = try await shared.register(request.object())
      return .login(userID, login, server)
    }
  }

  private mutating func addRegistrationCheckRoutes() {
    let accounts = homeserver.accounts

    on(.checkUsernameAvailability) { request in
      _ = try await accounts.available(TypedName.meant(by: try request.query().required("username")))
      return .json { $0.object { $0.member("available", true) } }
    }

    on(.registrationTokenValidity, budget: .authentication) { request in
      let isValid = try await accounts.registrationTokenIsValid(try request.query().required("token"))
      return .json { $0.object { $0.member("valid", isValid) } }
    }
  }
}

extension DeviceRequest {
  /// `device_id`, `initial_device_display_name` and `refresh_token` of a body.
  init(_ body: JSON, of request: APIRequest) throws(MatrixError) {
    self.init(
      deviceID: try body.optionalIdentifier("device_id"),
      displayName: try body.optionalText("initial_device_display_name")?.string, address: request.http.peer.address,
      canRefresh: try body.optionalBool("refresh_token") ?? false)
  }
}

extension Response {
  /// The answer to a registration or login; without `login` only the account was made. `base` becomes its `well_known`.
  static func login(_ userID: UserID, _ login: Login?, _ server: ServerName, at base: String? = nil) -> Response {
    .json { writer in
      writer.object { writer in
        writer.member("user_id", userID)
        writer.member("home_server", server)
        if let login {
          writer.members(of: login)
          writer.member("device_id", login.deviceID)
        }
        if let base {
          writer.key("well_known")
          writer.discovery(base)
        }
      }
    }
  }
}
