/// Accounts, sessions, profiles, what the server can do. The names are the operation IDs of the spec's OpenAPI description.
extension Endpoint {
  public static let getWellknown = Endpoint(.get, "/.well-known/matrix/client", .anyone)
  public static let getVersions = Endpoint(.get, "/_matrix/client/versions", .anyone)
  public static let getCapabilities = Endpoint(.get, "/_matrix/client/v3/capabilities", rateLimited: true)
  public static let register = Endpoint(.post, "/_matrix/client/v3/register", .anyone, rateLimited: true)
  public static let checkUsernameAvailability = Endpoint(
    .get, "/_matrix/client/v3/register/available", .anyone, rateLimited: true)
  public static let registrationTokenValidity = Endpoint(
    .get, "/_matrix/client/v1/register/m.login.registration_token/validity", .anyone, rateLimited: true)
  public static let getLoginFlows = Endpoint(.get, "/_matrix/client/v3/login", .anyone, rateLimited: true)
  public static let login = Endpoint(.post, "/_matrix/client/v3/login", .anyone, rateLimited: true)
  public static let logout = Endpoint(.post, "/_matrix/client/v3/logout")
  public static let logoutAll = Endpoint(.post, "/_matrix/client/v3/logout/all")
  public static let getTokenOwner = Endpoint(.get, "/_matrix/client/v3/account/whoami", rateLimited: true)
  public static let changePassword = Endpoint(.post, "/_matrix/client/v3/account/password", .anyone, rateLimited: true)
  public static let deactivateAccount = Endpoint(
    .post, "/_matrix/client/v3/account/deactivate", .anyone, rateLimited: true)
  public static let getUserProfile = Endpoint(.get, "/_matrix/client/v3/profile/{userId}", .anyone)
  public static let getProfileField = Endpoint(.get, "/_matrix/client/v3/profile/{userId}/{keyName}", .anyone)
  public static let setProfileField = Endpoint(.put, "/_matrix/client/v3/profile/{userId}/{keyName}", rateLimited: true)
  public static let deleteProfileField = Endpoint(
    .delete, "/_matrix/client/v3/profile/{userId}/{keyName}", rateLimited: true)
  public static let getAccount3PIDs = Endpoint(.get, "/_matrix/client/v3/account/3pid")
  public static let searchUserDirectory = Endpoint(.post, "/_matrix/client/v3/user_directory/search", rateLimited: true)
}
