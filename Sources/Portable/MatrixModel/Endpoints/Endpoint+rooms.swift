/// Rooms, membership, events. The names are the operation IDs of the spec's OpenAPI description.
extension Endpoint {
  public static let createRoom = Endpoint(.post, "/_matrix/client/v3/createRoom")
  public static let joinRoom = Endpoint(.post, "/_matrix/client/v3/join/{roomIdOrAlias}", rateLimited: true)
  public static let joinRoomByID = Endpoint(.post, "/_matrix/client/v3/rooms/{roomId}/join", rateLimited: true)
  public static let inviteUser = Endpoint(.post, "/_matrix/client/v3/rooms/{roomId}/invite", rateLimited: true)
  public static let leaveRoom = Endpoint(.post, "/_matrix/client/v3/rooms/{roomId}/leave", rateLimited: true)
  public static let forgetRoom = Endpoint(.post, "/_matrix/client/v3/rooms/{roomId}/forget", rateLimited: true)
  public static let kick = Endpoint(.post, "/_matrix/client/v3/rooms/{roomId}/kick")
  public static let ban = Endpoint(.post, "/_matrix/client/v3/rooms/{roomId}/ban")
  public static let unban = Endpoint(.post, "/_matrix/client/v3/rooms/{roomId}/unban")
  public static let sendMessage = Endpoint(.put, "/_matrix/client/v3/rooms/{roomId}/send/{eventType}/{txnId}")
  public static let redactEvent = Endpoint(.put, "/_matrix/client/v3/rooms/{roomId}/redact/{eventId}/{txnId}")
  public static let getRoomState = Endpoint(.get, "/_matrix/client/v3/rooms/{roomId}/state")
  public static let getRoomStateWithKey = Endpoint(
    .get, "/_matrix/client/v3/rooms/{roomId}/state/{eventType}/{stateKey}")
  public static let setRoomStateWithKey = Endpoint(
    .put, "/_matrix/client/v3/rooms/{roomId}/state/{eventType}/{stateKey}")
  public static let getOneRoomEvent = Endpoint(.get, "/_matrix/client/v3/rooms/{roomId}/event/{eventId}")
  public static let getMembersByRoom = Endpoint(.get, "/_matrix/client/v3/rooms/{roomId}/members")
  public static let getJoinedMembersByRoom = Endpoint(.get, "/_matrix/client/v3/rooms/{roomId}/joined_members")
  public static let getJoinedRooms = Endpoint(.get, "/_matrix/client/v3/joined_rooms")
  public static let getRoomEvents = Endpoint(.get, "/_matrix/client/v3/rooms/{roomId}/messages")
  public static let getEventContext = Endpoint(.get, "/_matrix/client/v3/rooms/{roomId}/context/{eventId}")
  public static let getRoomIDByAlias = Endpoint(.get, "/_matrix/client/v3/directory/room/{roomAlias}", .anyone)
  public static let setRoomAlias = Endpoint(.put, "/_matrix/client/v3/directory/room/{roomAlias}")
  public static let deleteRoomAlias = Endpoint(.delete, "/_matrix/client/v3/directory/room/{roomAlias}")
  public static let getLocalAliases = Endpoint(.get, "/_matrix/client/v3/rooms/{roomId}/aliases", rateLimited: true)
}
