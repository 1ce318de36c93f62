/// Pushers and notifications. The names are the operation IDs of the spec's OpenAPI description.
extension Endpoint {
  public static let getPushers = Endpoint(.get, "/_matrix/client/v3/pushers")
  public static let postPusher = Endpoint(.post, "/_matrix/client/v3/pushers/set", rateLimited: true)
  /// Spec: MSC4174.
  public static let activatePusher = Endpoint(.post, "/_matrix/client/unstable/org.matrix.msc4174/pushers/ack")
  public static let getNotifications = Endpoint(.get, "/_matrix/client/v3/notifications")
}
