/// Finding rooms and people, reports, discovery. The names are the operation IDs of the spec's OpenAPI description.
extension Endpoint {
  public static let getPublicRooms = Endpoint(.get, "/_matrix/client/v3/publicRooms", .anyone)
  public static let queryPublicRooms = Endpoint(.post, "/_matrix/client/v3/publicRooms")
  public static let getRoomVisibilityOnDirectory = Endpoint(
    .get, "/_matrix/client/v3/directory/list/room/{roomId}", .anyone)
  public static let setRoomVisibilityOnDirectory = Endpoint(.put, "/_matrix/client/v3/directory/list/room/{roomId}")
  public static let updateAppserviceRoomDirectoryVisibility = Endpoint(
    .put, "/_matrix/client/v3/directory/list/appservice/{networkId}/{roomId}")
  public static let getSpaceHierarchy = Endpoint(
    .get, "/_matrix/client/v1/rooms/{roomId}/hierarchy", rateLimited: true)
  public static let getRoomSummary = Endpoint(.get, "/_matrix/client/v1/room_summary/{roomIdOrAlias}", .anyone)
  public static let getEventByTimestamp = Endpoint(
    .get, "/_matrix/client/v1/rooms/{roomId}/timestamp_to_event", rateLimited: true)
  public static let getMutualRooms = Endpoint(.get, "/_matrix/client/v1/mutual_rooms", rateLimited: true)
  public static let reportRoom = Endpoint(.post, "/_matrix/client/v3/rooms/{roomId}/report", rateLimited: true)
  public static let reportEvent = Endpoint(.post, "/_matrix/client/v3/rooms/{roomId}/report/{eventId}")
  public static let reportUser = Endpoint(.post, "/_matrix/client/v3/users/{userId}/report", rateLimited: true)
  public static let getWellknownSupport = Endpoint(.get, "/.well-known/matrix/support", .anyone)
  public static let getTurnServer = Endpoint(.get, "/_matrix/client/v3/voip/turnServer", rateLimited: true)

  // Ours: lists in pages that keep the state of their first page.
  public static let getMemberPage = Endpoint(
    .get, "/_matrix/client/unstable/martlet.paging/rooms/{roomId}/members", rateLimited: true)
  public static let getUserPage = Endpoint(.get, "/_matrix/client/unstable/martlet.paging/users", rateLimited: true)
}
