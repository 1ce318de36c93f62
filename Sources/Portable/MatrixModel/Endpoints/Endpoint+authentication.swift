/// Tokens, and what administrators do with accounts. The names are the operation IDs of the spec's OpenAPI description.
extension Endpoint {
  public static let refresh = Endpoint(.post, "/_matrix/client/v3/refresh", .anyone, rateLimited: true)
  public static let generateLoginToken = Endpoint(.post, "/_matrix/client/v1/login/get_token", rateLimited: true)
  public static let requestOpenIdToken = Endpoint(
    .post, "/_matrix/client/v3/user/{userId}/openid/request_token", rateLimited: true)
  public static let getAuthMetadata = Endpoint(.get, "/_matrix/client/v1/auth_metadata", .anyone)
  public static let getAdminLockUser = Endpoint(.get, "/_matrix/client/v1/admin/lock/{userId}", .administrator)
  public static let setAdminLockUser = Endpoint(.put, "/_matrix/client/v1/admin/lock/{userId}", .administrator)
  public static let getAdminSuspendUser = Endpoint(.get, "/_matrix/client/v1/admin/suspend/{userId}", .administrator)
  public static let setAdminSuspendUser = Endpoint(.put, "/_matrix/client/v1/admin/suspend/{userId}", .administrator)
  /// Also for the user who is looked up.
  public static let getWhoIs = Endpoint(.get, "/_matrix/client/v3/admin/whois/{userId}")
}
