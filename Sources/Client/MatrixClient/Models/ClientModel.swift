public import ClientCore
public import MatrixModel
public import Observation

/// An account for views, and where the models of its parts come from.
///
///     let model = ClientModel(client)
///     Text(model.displayName ?? "")
///     List(model.roomList.roomIDs, id: \.self) { RoomRow(model.room($0)) }
///     List(model.room(id).timeline.items) { MessageRow($0) }
///
/// Models are filled and kept up to date from the client, all that has changed in one step of the main actor. A model tells
/// its observers only of what is different; it lives as long as somebody holds it.
@MainActor @Observable public final class ClientModel {
  public private(set) var sessionState = SessionState.loading
  public private(set) var userID: UserID?
  public private(set) var connection = ConnectionState.idle
  public private(set) var displayName: String?
  public private(set) var avatar: MediaURI?
  /// Unread messages that call for notice, of all rooms; and those of them that name one.
  public private(set) var notificationCount = 0
  public private(set) var highlightCount = 0

  @ObservationIgnored let feed: ModelFeed
  @ObservationIgnored private var list: RoomListModel?

  public init(_ client: MatrixClient) {
    feed = ModelFeed(client)
    feed.attach(self)
  }

  public nonisolated var client: MatrixClient { feed.client }

  /// All rooms in their sections: invitations, favourites, direct chats, other rooms, those of low priority. Always the same model.
  public var roomList: RoomListModel {
    if let list { return list }
    let model = feed.roomList(RoomListQuery())
    list = model
    return model
  }

  /// A further list, of its own for all who ask.
  public func roomList(_ query: RoomListQuery) -> RoomListModel { feed.roomList(query) }

  /// The same one for all who ask while anybody holds it, as a view that shows it does.
  public func room(_ id: RoomID) -> RoomModel { feed.room(id) }
  /// Likewise. Opens the timeline; it closes when the model goes.
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
