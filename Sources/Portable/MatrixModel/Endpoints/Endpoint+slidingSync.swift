/// Sliding sync, presence, and what is ours of sync: unread totals, hiding, who is online. Those of the spec have its operation IDs.
extension Endpoint {
  public static let slidingSync = Endpoint(.post, "/_matrix/client/unstable/org.matrix.simplified_msc3575/sync")
  public static let getThreadUpdates = Endpoint(.get, "/_matrix/client/unstable/io.element.msc4360/thread_updates")
  public static let getPresence = Endpoint(.get, "/_matrix/client/v3/presence/{userId}/status")
  public static let setPresence = Endpoint(.put, "/_matrix/client/v3/presence/{userId}/status", rateLimited: true)

  /// `martlet.online`: how many members of a room are there.
  public static let getOnlineCounts = Endpoint(.get, "/_matrix/client/unstable/martlet.online/rooms/{roomId}")
  /// `martlet.unread`: the counts of all rooms taken together.
  public static let getUnread = Endpoint(.get, "/_matrix/client/unstable/martlet.unread")
  /// `martlet.since_joined`: how many messages a room has had since one joined it.
  public static let getSinceJoined = Endpoint(.get, "/_matrix/client/unstable/martlet.since_joined/rooms/{roomId}")
  /// `martlet.read_all`: marks everything, or a list of rooms, as read.
  public static let markAllRead = Endpoint(.post, "/_matrix/client/unstable/martlet.read_all", rateLimited: true)
  /// `martlet.hide`: hides rooms until somebody writes there.
  public static let hideRoom = Endpoint(.post, "/_matrix/client/unstable/martlet.hide/rooms/{roomId}", rateLimited: true)
  public static let showRoom = Endpoint(.delete, "/_matrix/client/unstable/martlet.hide/rooms/{roomId}", rateLimited: true)
  public static let hideRooms = Endpoint(.post, "/_matrix/client/unstable/martlet.hide/rooms", rateLimited: true)
}
