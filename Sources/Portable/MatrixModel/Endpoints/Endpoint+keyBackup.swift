/// The server-side backup of room keys. The names are the operation IDs of the spec's OpenAPI description.
extension Endpoint {
  public static let postRoomKeysVersion = Endpoint(.post, "/_matrix/client/v3/room_keys/version", rateLimited: true)
  public static let getRoomKeysVersionCurrent = Endpoint(.get, "/_matrix/client/v3/room_keys/version", rateLimited: true)
  public static let getRoomKeysVersion = Endpoint(
    .get, "/_matrix/client/v3/room_keys/version/{version}", rateLimited: true)
  public static let putRoomKeysVersion = Endpoint(
    .put, "/_matrix/client/v3/room_keys/version/{version}", rateLimited: true)
  public static let deleteRoomKeysVersion = Endpoint(
    .delete, "/_matrix/client/v3/room_keys/version/{version}", rateLimited: true)
  public static let putRoomKeys = Endpoint(.put, "/_matrix/client/v3/room_keys/keys", rateLimited: true)
  public static let getRoomKeys = Endpoint(.get, "/_matrix/client/v3/room_keys/keys", rateLimited: true)
  public static let deleteRoomKeys = Endpoint(.delete, "/_matrix/client/v3/room_keys/keys", rateLimited: true)
  public static let putRoomKeysByRoomId = Endpoint(.put, "/_matrix/client/v3/room_keys/keys/{roomId}", rateLimited: true)
  public static let getRoomKeysByRoomId = Endpoint(.get, "/_matrix/client/v3/room_keys/keys/{roomId}", rateLimited: true)
  public static let deleteRoomKeysByRoomId = Endpoint(
    .delete, "/_matrix/client/v3/room_keys/keys/{roomId}", rateLimited: true)
  public static let putRoomKeyBySessionId = Endpoint(
    .put, "/_matrix/client/v3/room_keys/keys/{roomId}/{sessionId}", rateLimited: true)
  public static let getRoomKeyBySessionId = Endpoint(
    .get, "/_matrix/client/v3/room_keys/keys/{roomId}/{sessionId}", rateLimited: true)
  public static let deleteRoomKeyBySessionId = Endpoint(
    .delete, "/_matrix/client/v3/room_keys/keys/{roomId}/{sessionId}", rateLimited: true)
}

/// Dehydrated devices (MSC3814, not yet in the specification).
extension Endpoint {
  private static let dehydrated: StaticString =
    "/_matrix/client/unstable/org.matrix.msc3814.v1/dehydrated_device"
  public static let putDehydratedDevice = Endpoint(.put, dehydrated)
  public static let getDehydratedDevice = Endpoint(.get, dehydrated)
  public static let deleteDehydratedDevice = Endpoint(.delete, dehydrated)
  public static let getDehydratedDeviceEvents = Endpoint(
    .post, "/_matrix/client/unstable/org.matrix.msc3814.v1/dehydrated_device/{deviceId}/events")
}
