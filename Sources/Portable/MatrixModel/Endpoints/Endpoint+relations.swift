/// Relations between events, threads, search. The names are the operation IDs of the spec's OpenAPI description.
extension Endpoint {
  public static let getRelatingEvents = Endpoint(.get, "/_matrix/client/v1/rooms/{roomId}/relations/{eventId}")
  public static let getRelatingEventsWithRelType = Endpoint(
    .get, "/_matrix/client/v1/rooms/{roomId}/relations/{eventId}/{relType}")
  public static let getRelatingEventsWithRelTypeAndEventType = Endpoint(
    .get, "/_matrix/client/v1/rooms/{roomId}/relations/{eventId}/{relType}/{eventType}")
  public static let getThreadRoots = Endpoint(.get, "/_matrix/client/v1/rooms/{roomId}/threads", rateLimited: true)
  public static let search = Endpoint(.post, "/_matrix/client/v3/search", rateLimited: true)
  /// Ours: how many members have read events.
  public static let getReadCounts = Endpoint(.get, "/_matrix/client/unstable/martlet.read_counts/rooms/{roomId}")
}
