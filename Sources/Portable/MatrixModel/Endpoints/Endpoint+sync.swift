/// Sync and what a user keeps: filters, typing, receipts, account data, tags. The names are the operation IDs of the spec's OpenAPI description.
extension Endpoint {
  public static let sync = Endpoint(.get, "/_matrix/client/v3/sync")
  public static let defineFilter = Endpoint(.post, "/_matrix/client/v3/user/{userId}/filter")
  public static let getFilter = Endpoint(.get, "/_matrix/client/v3/user/{userId}/filter/{filterId}")
  public static let setTyping = Endpoint(.put, "/_matrix/client/v3/rooms/{roomId}/typing/{userId}", rateLimited: true)
  public static let postReceipt = Endpoint(
    .post, "/_matrix/client/v3/rooms/{roomId}/receipt/{receiptType}/{eventId}", rateLimited: true)
  public static let setReadMarker = Endpoint(.post, "/_matrix/client/v3/rooms/{roomId}/read_markers", rateLimited: true)
  public static let setAccountData = Endpoint(.put, "/_matrix/client/v3/user/{userId}/account_data/{type}")
  public static let getAccountData = Endpoint(.get, "/_matrix/client/v3/user/{userId}/account_data/{type}")
  public static let setAccountDataPerRoom = Endpoint(
    .put, "/_matrix/client/v3/user/{userId}/rooms/{roomId}/account_data/{type}")
  public static let getAccountDataPerRoom = Endpoint(
    .get, "/_matrix/client/v3/user/{userId}/rooms/{roomId}/account_data/{type}")
  public static let getRoomTags = Endpoint(.get, "/_matrix/client/v3/user/{userId}/rooms/{roomId}/tags")
  public static let setRoomTag = Endpoint(.put, "/_matrix/client/v3/user/{userId}/rooms/{roomId}/tags/{tag}")
  public static let deleteRoomTag = Endpoint(.delete, "/_matrix/client/v3/user/{userId}/rooms/{roomId}/tags/{tag}")
}
