import JSON
import MatrixModel

/// What a view has to look at again. All changes of one `handle` describe the state after it.
public enum Change: Sendable {
  /// `Client.sessionState` or `Client.signIn`.
  case session
  /// `Client.connection`.
  case connection
  /// `Client.roomIDs`: rooms came, went or changed places.
  case roomOrder
  /// These aspects of one room.
  case room(RoomID, RoomAspects)
  /// Steps that turn the timeline as it was into what it is, one after the other; each index counts after the steps before it.
  indirect case timeline(TimelineKey, [TimelineChange])
  /// Names or avatars of these members, as `Room.displayName(of:)` gives them.
  case members(RoomID, [UserID])
  /// `Client.unreadMemberCount` of the items in this range.
  indirect case readCounts(RoomID, Range<Int>)
  /// The own name or avatar.
  case profile
  case commandFinished(CommandID, CommandResult)
  /// How something in the outbox is getting on, whether its room is open or not.
  indirect case sending(RoomID, SendID, SendProgress)
  /// `Client.pushRules`.
  case pushRules
  /// `NotificationWishes.quietHours` or `snoozedUntilMilliseconds`.
  case quietHours
  // People
  /// `Client.ignoredUsers`.
  case ignoredUsers
  /// `Client.presence(of:)` of these.
  case presence([UserID])
  /// Events that a sync brought into a room, open or not, the oldest first; only where `Client.reportsArrivals` is on. Not those of the
  /// first sync, which are history.
  case arrived(RoomID, [Event])
  /// How far others have read or received, likewise.
  case receipts(RoomID, [ReceiptReport])
  /// Account data that is different now, of a room or (nil) of the account, likewise.
  case accountData(RoomID?, [Event])
  /// The store does not take writes: the client goes on in memory, a restart goes back to the last write that succeeded.
  case storeFailed
  // Room list
  /// Steps of a list that is open (`Client.roomList`), all together what an input has changed in it.
  case roomList(RoomListID, [RoomListChange])
  /// `Client.breadcrumbs`.
  case breadcrumbs
  // Spaces
  /// `Client.spaces`: what is in these spaces, and which there are.
  case spaces([RoomID])
  /// `SpaceGraph.counts(of:)` of these.
  case spaceCounts([RoomID])
}

/// Parts of a room that a list or header shows.
public struct RoomAspects: OptionSet, Sendable {
  public let rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  public static let name = RoomAspects(rawValue: 1)
  public static let avatar = RoomAspects(rawValue: 2)
  public static let topic = RoomAspects(rawValue: 4)
  public static let membership = RoomAspects(rawValue: 8)
  public static let unread = RoomAspects(rawValue: 16)
  public static let preview = RoomAspects(rawValue: 32)
  public static let typing = RoomAspects(rawValue: 64)
  public static let memberCounts = RoomAspects(rawValue: 128)
  public static let draft = RoomAspects(rawValue: 256)
  /// `Timeline.backState`.
  public static let pagination = RoomAspects(rawValue: 512)
  public static let fullyRead = RoomAspects(rawValue: 1024)
  /// Direct chat, encryption, successor, power levels.
  public static let settings = RoomAspects(rawValue: 2048)
  // Room list
  /// Tags, and whether it is hidden.
  public static let tags = RoomAspects(rawValue: 4096)
  /// Children, parents, and whether it is a space at all.
  public static let space = RoomAspects(rawValue: 8192)
  // Calls
  /// Who is in the room's call.
  public static let call = RoomAspects(rawValue: 16384)
  // People
  /// Somebody came, went, knocks or was banned.
  public static let members = RoomAspects(rawValue: 32768)
}

/// One step of a list.
public enum ListChange<Element: Sendable>: Sendable {
  case inserted(at: Int, [Element])
  indirect case updated(at: Int, Element)
  case removed(Range<Int>)
  /// All of it is new: loaded, or dropped (empty).
  case reset([Element])
}

public typealias TimelineChange = ListChange<TimelineItem>
