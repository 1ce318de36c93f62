import JSON
import MatrixModel

/// What a room is sorted by; no two are equal. What a list does not sort by is the same in all its keys.
struct RoomListKey: Sendable, Equatable {
  /// How well its name fits the words.
  var match: UInt8 = 0
  /// How much it wants to be read.
  var rank: UInt8 = 0
  var tagOrder = 0.0
  var name = FoldedText()
  /// Milliseconds since 1970.
  var activity: Int64
  let id: RoomID

  static func < (left: RoomListKey, right: RoomListKey) -> Bool {
    if left.match != right.match { return left.match < right.match }
    if left.rank != right.rank { return left.rank < right.rank }
    if left.tagOrder != right.tagOrder { return left.tagOrder < right.tagOrder }
    if left.name != right.name { return left.name < right.name }
    if left.activity != right.activity { return left.activity > right.activity }
    return left.id < right.id
  }
}

extension RoomList {
  /// Where the room belongs; nil where it is not shown. `isInSpace`: whether it is in any.
  func entry(of room: Room, isInSpace: Bool) -> Entry? {
    guard accepts(room, isInSpace: isInSpace), let shelf = shelf(of: room) else { return nil }
    var key = RoomListKey(activity: room.lastActivityMilliseconds, id: room.id)
    if !words.isEmpty || query.sort == .name { key.name = FoldedText(room.name.english) }
    if !words.isEmpty {
      guard let match = key.name.match(words) else { return nil }
      key.match = match.rawValue
    }
    switch query.sort {
    case .name: return Entry(shelf: shelf, key: key)
    case .activity: break
    case .unreadFirst: key.rank = room.highlightCount > 0 ? 0 : room.isUnread ? 1 : 2
    case .tagOrder: key.tagOrder = tagOrder(of: room, in: query.sections[shelf])
    }
    key.name = FoldedText()
    return Entry(shelf: shelf, key: key)
  }

  private func accepts(_ room: Room, isInSpace: Bool) -> Bool {
    let filter = query.filter
    let wanted = filter.conditions
    let isHidden = room.isHidden && room.membership == .join
    if wanted.contains(.hidden) ? !isHidden : isHidden && !filter.showsHidden { return false }
    switch filter.place {
    case .anywhere: break
    case .inSpace: guard spaceRooms.contains(room.id) else { return false }
    case .outsideSpaces: if isInSpace { return false }
    }
    if wanted.isEmpty { return true }
    if wanted.contains(.unread), !room.isUnread { return false }
    if wanted.contains(.mentions), room.highlightCount == 0 { return false }
    if wanted.contains(.people), !room.isDirect { return false }
    if wanted.contains(.groups), room.isDirect { return false }
    if wanted.contains(.favourites), !room.isFavourite { return false }
    if wanted.contains(.invites), room.membership != .invite { return false }
    if wanted.contains(.lowPriority), !room.isLowPriority { return false }
    if wanted.contains(.encrypted), !room.isEncrypted { return false }
    return !wanted.contains(.unsent) || room.hasUnsent
  }

  /// Index in the query of the first section that fits.
  private func shelf(of room: Room) -> Int? {
    let fitting: [RoomListSection]
    switch room.membership {
    case .invite: fitting = [.invites, .all]
    case .knock: fitting = [.knocks]
    case .leave, .ban: fitting = [.left]
    case .join:
      if room.isSpace {
        fitting = [.spaces]
      } else {
        let kind: RoomListSection = room.isDirect ? .people : .rooms
        fitting =
          (room.isServerNotice ? [.serverNotices] : []) + (room.isFavourite ? [.favourites] : [])
          + (room.isLowPriority ? [.lowPriority] : []) + [kind, .all]
      }
    }
    for section in fitting { if let index = query.sections.firstIndex(of: section) { return index } }
    return nil
  }

  /// Rooms without one stand behind the others.
  private func tagOrder(of room: Room, in section: RoomListSection) -> Double {
    switch section {
    case .favourites: room.tag(RoomTag.favourite)?.order ?? .infinity
    case .lowPriority: room.tag(RoomTag.lowPriority)?.order ?? .infinity
    default: 0
    }
  }
}
