import ClientCore
public import MatrixModel
public import Observation

/// The rooms of an account in their order, for views.
@MainActor @Observable public final class RoomListModel {
  /// Invitations first, then the room with the latest message.
  public private(set) var roomIDs: [RoomID]

  @ObservationIgnored private let feed: ModelFeed

  init(_ feed: ModelFeed, _ order: [RoomID]) {
    self.feed = feed
    roomIDs = order
  }

  /// The room's model, made where there is none.
  public subscript(id: RoomID) -> RoomModel { feed.room(id) }

  func take(_ order: [RoomID]) { if roomIDs != order { roomIDs = order } }
}
