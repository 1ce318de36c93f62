public import ClientCore
public import MatrixModel
public import Observation

/// The model of an account for views. It also returns the models of rooms, lists and timelines.
///
///     let model = ClientModel(client)
///     Text(model.displayName ?? "")
///     List(model.roomList.roomIDs, id: \.self) { RoomRow(model.room($0)) }
///     List(model.room(id).timeline.items) { MessageRow($0) }
///
/// The client keeps models up to date, with all changes in one step of the main actor. A model notifies its observers only of
/// properties that change. It lives as long as something holds it.
@MainActor @Observable public final class ClientModel {
  public private(set) var sessionState = SessionState.loading
  public private(set) var userID: UserID?
  public private(set) var connection = ConnectionState.idle
  public private(set) var displayName: String?
  public private(set) var avatar: MediaURI?
  /// The number of unread messages in all rooms that notify the user. `highlightCount` is the number of those that mention the user.
  public private(set) var notificationCount = 0
  public private(set) var highlightCount = 0

  @ObservationIgnored let feed: ModelFeed
  @ObservationIgnored private var list: RoomListModel?

  public init(_ client: MatrixClient) {
    feed = ModelFeed(client)
    feed.attach(self)
  }

  public nonisolated var client: MatrixClient { feed.client }

  /// All rooms in sections: invitations, favourites, direct chats, other rooms, rooms with low priority. It is always the same model.
  public var roomList: RoomListModel {
    if let list { return list }
    let model = feed.roomList(RoomListQuery())
    list = model
    return model
  }

  /// Returns a new list with its own query.
  public func roomList(_ query: RoomListQuery) -> RoomListModel { feed.roomList(query) }

  /// Returns the model of a room. It is the same for all callers as long as one of them, such as a view, holds it.
  public func room(_ id: RoomID) -> RoomModel { feed.room(id) }
  /// Returns the model of a timeline, the same for all callers. Opens the timeline, which closes when nothing holds the model.
  public func timeline(_ key: TimelineKey) -> TimelineModel { feed.timeline(key) }

  // MARK: News

  func take(_ look: AccountLook) {
    if sessionState != look.sessionState { sessionState = look.sessionState }
    if userID != look.userID { userID = look.userID }
    if !connection.isSame(as: look.connection) { connection = look.connection }
    if displayName != look.displayName { displayName = look.displayName }
    if avatar != look.avatar { avatar = look.avatar }
  }

  func takeCounts(_ counts: (notifications: Int, highlights: Int)) {
    if notificationCount != counts.notifications { notificationCount = counts.notifications }
    if highlightCount != counts.highlights { highlightCount = counts.highlights }
  }
}

extension ConnectionState {
  fileprivate func isSame(as other: ConnectionState) -> Bool {
    switch (self, other) {
    case (.idle, .idle), (.connecting, .connecting), (.running, .running), (.offline, .offline): true
    case (.reconnecting(let a), .reconnecting(let b)): a == b
    default: false
    }
  }
}
