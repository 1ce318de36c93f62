/// Ours (`martlet.…`), delayed events of MSC4140, and where calls meet by MSC4143. Documentation/Extensions.md describes them.
extension Endpoint {
  public static let openDirectRoom = Endpoint(.post, "/_matrix/client/unstable/martlet.direct", rateLimited: true)
  public static let rejoinRoom = Endpoint(.post, "/_matrix/client/unstable/martlet.rejoin/{roomId}", rateLimited: true)
  public static let inviteUsers = Endpoint(.post, "/_matrix/client/unstable/martlet.bulk/invite", rateLimited: true)
  public static let leaveRooms = Endpoint(.post, "/_matrix/client/unstable/martlet.bulk/leave", rateLimited: true)
  public static let getBulkJob = Endpoint(.get, "/_matrix/client/unstable/martlet.bulk/{job}")

  public static let getUploadProgress = Endpoint(
    .get, "/_matrix/client/unstable/martlet.resumable/{serverName}/{mediaId}", rateLimited: true)
  public static let giveUpUpload = Endpoint(
    .delete, "/_matrix/client/unstable/martlet.resumable/{serverName}/{mediaId}", rateLimited: true)

  public static let createInviteLink = Endpoint(
    .post, "/_matrix/client/unstable/martlet.invite_links", rateLimited: true)
  public static let getInviteLinks = Endpoint(.get, "/_matrix/client/unstable/martlet.invite_links", rateLimited: true)
  public static let revokeInviteLink = Endpoint(
    .delete, "/_matrix/client/unstable/martlet.invite_links/{linkId}", rateLimited: true)
  public static let describeInviteLink = Endpoint(
    .post, "/_matrix/client/unstable/martlet.invite_links/describe", .anyone, rateLimited: true)
  public static let joinByInviteLink = Endpoint(
    .post, "/_matrix/client/unstable/martlet.invite_links/join", rateLimited: true)

  public static let searchGifs = Endpoint(.get, "/_matrix/client/unstable/martlet.gifs/search", rateLimited: true)
  public static let takeGif = Endpoint(.post, "/_matrix/client/unstable/martlet.gifs/take", rateLimited: true)

  public static let createCallToken = Endpoint(
    .post, "/_matrix/client/unstable/martlet.call/rooms/{roomId}/token", rateLimited: true)
  public static let getRTCTransports = Endpoint(
    .get, "/_matrix/client/unstable/org.matrix.msc4143/rtc/transports", rateLimited: true)

  public static let scheduleEvent = Endpoint(
    .put, "/_matrix/client/unstable/org.matrix.msc4140/rooms/{roomId}/delayed_event/{eventType}/{txnId}",
    rateLimited: true)
  public static let getDelayedEvents = Endpoint(
    .get, "/_matrix/client/unstable/org.matrix.msc4140/delayed_events", rateLimited: true)
  public static let getDelayedEvent = Endpoint(
    .get, "/_matrix/client/unstable/org.matrix.msc4140/delayed_events/{delayId}", rateLimited: true)
  /// The action is in the body.
  public static let updateDelayedEvent = Endpoint(
    .post, "/_matrix/client/unstable/org.matrix.msc4140/delayed_events/{delayId}", .anyone, rateLimited: true)
  public static let performOnDelayedEvent = Endpoint(
    .post, "/_matrix/client/unstable/org.matrix.msc4140/delayed_events/{delayId}/{action}", .anyone, rateLimited: true)
}
