import JSON
import MatrixModel

/// Names an open list of rooms. Its creator chooses the name.
public typealias RoomListID = UInt32

/// What a list shows, in which parts and in what order.
public struct RoomListQuery: Sendable {
  /// In the order in which they are shown. A room stands in the first of those that fit it, in the order of `RoomListSection`; where none
  /// does it is not shown.
  public var sections: [RoomListSection]
  public var filter: RoomListFilter
  public var sort: RoomListSort
  /// How many rooms of each section are shown at first, and come with `RoomListCommand.grow`; nil for all, never below 1.
  public var pageSize: Int?

  public init(
    sections: [RoomListSection] = [.invites, .favourites, .people, .rooms, .lowPriority],
    filter: RoomListFilter = RoomListFilter(), sort: RoomListSort = .activity, pageSize: Int? = nil
  ) {
    self.sections = sections
    self.filter = filter
    self.sort = sort
    self.pageSize = pageSize
  }

  /// Everything that fits the words, the best first, whatever it is.
  public static func search(_ words: ByteString, pageSize: Int? = nil) -> RoomListQuery {
    RoomListQuery(sections: [.all], filter: RoomListFilter(words: words, showsHidden: true), pageSize: pageSize)
  }
}

/// A part of a list. Spaces are in none but their own.
public enum RoomListSection: UInt8, Sendable, CaseIterable {
  case invites
  /// Rooms that wait until somebody lets one in.
  case knocks
  case serverNotices
  case favourites
  case lowPriority
  /// Direct chats.
  case people
  case rooms
  /// Spaces that one is in.
  case spaces
  /// Rooms that the user has left or was removed from, until they are forgotten.
  case left
  /// Rooms that one is in or invited to and that no other section shows.
  case all
}

public enum RoomListSort: UInt8, Sendable, CaseIterable {
  /// The last message first.
  case activity
  /// By the folded name.
  case name
  /// Mentions, then other unread rooms, then the rest; by the last message in each.
  case unreadFirst
  /// Favourites and rooms of low priority as their tags say, the others by the last message.
  case tagOrder
}

/// Which rooms a list shows: those that everything in it holds for.
public struct RoomListFilter: Sendable {
  public struct Conditions: OptionSet, Sendable {
    public let rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// `Room.isUnread`.
    public static let unread = Conditions(rawValue: 1)
    /// With messages that name the reader.
    public static let mentions = Conditions(rawValue: 2)
    /// Direct chats.
    public static let people = Conditions(rawValue: 4)
    /// Everything else.
    public static let groups = Conditions(rawValue: 8)
    public static let favourites = Conditions(rawValue: 16)
    public static let invites = Conditions(rawValue: 32)
    public static let lowPriority = Conditions(rawValue: 64)
    public static let encrypted = Conditions(rawValue: 128)
    /// With messages that could not be sent.
    public static let unsent = Conditions(rawValue: 256)
    /// `Room.isHidden`.
    public static let hidden = Conditions(rawValue: 512)
  }

  public enum Place: Sendable, Hashable {
    case anywhere
    /// In the space or in one of its subspaces.
    case inSpace(RoomID)
    /// In no space that one is in.
    case outsideSpaces
  }

  public var conditions: Conditions
  public var place: Place
  /// Part of the name, its case and diacritics aside: the beginning of a word, better than what stands within one, better than its characters
  /// here and there in order. Those that fit better stand first. Empty for all rooms.
  public var words: ByteString
  /// Whether rooms hidden until their next message are shown, too.
  public var showsHidden: Bool

  public init(
    _ conditions: Conditions = [], place: Place = .anywhere, words: ByteString = "", showsHidden: Bool = false
  ) {
    self.conditions = conditions
    self.place = place
    self.words = words
    self.showsHidden = showsHidden
  }
}

/// Where a room stands in a list.
public struct RoomListPlace: Sendable, Hashable {
  public let section: RoomListSection
  public let index: Int

  public init(_ section: RoomListSection, _ index: Int) {
    self.section = section
    self.index = index
  }
}

/// One step of a list of rooms. The steps of a change follow one another: each counts after those before it.
public enum RoomListChange: Sendable, Hashable {
  case inserted(RoomID, at: RoomListPlace)
  case removed(RoomID, at: RoomListPlace)
  /// It was taken out, and then put in at `to`, which counts without it. What its row shows may be different as well.
  case moved(RoomID, from: RoomListPlace, to: RoomListPlace)
  /// What its row shows is different.
  case updated(RoomID, at: RoomListPlace)
  /// All of it is new: just opened, or most of the rooms have come or gone. The rooms of each section of the query.
  case reset([[RoomID]])
}
