/// Knocking, upgrades, and what is refused. The names are the operation IDs of the spec's OpenAPI description.
extension Endpoint {
  public static let knockRoom = Endpoint(.post, "/_matrix/client/v3/knock/{roomIdOrAlias}", rateLimited: true)
  public static let upgradeRoom = Endpoint(.post, "/_matrix/client/v3/rooms/{roomId}/upgrade")
  public static let getEvents = Endpoint(.get, "/_matrix/client/v3/events")
  public static let getOneEvent = Endpoint(.get, "/_matrix/client/v3/events/{eventId}")
  public static let initialSync = Endpoint(.get, "/_matrix/client/v3/initialSync")
  public static let roomInitialSync = Endpoint(.get, "/_matrix/client/v3/rooms/{roomId}/initialSync")
  public static let getWellknownPolicy = Endpoint(.get, "/.well-known/matrix/policy_server", .anyone)
}
