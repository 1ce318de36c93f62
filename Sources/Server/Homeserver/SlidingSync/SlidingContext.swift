import Database
import JSON
import MatrixModel

/// One attempt to answer one sliding sync: what was asked, what the connection has been told, what to read from.
struct SlidingContext {
  let request: SlidingRequest
  /// The streams of v3 sync read by this; `from` is the connection's last answer.
  let sync: SyncContext
  let content: SlidingConnection.Content
  let watch: UserWatch
  let account: AccountSummary
  let markers: RoomMarkers
  let listing: RoomListing

  var user: UserID { request.userID }
  var rows: SyncRows { sync.rows }

  init(
    _ request: SlidingRequest, _ sync: SyncContext, _ content: SlidingConnection.Content, _ watch: UserWatch
  ) throws {
    self.request = request
    self.sync = sync
    self.content = content
    self.watch = watch
    account = try watch.account ?? AccountSummary.read(of: request.userID, sync.rows)
    watch.remember(account)
    markers = try RoomMarkers.current(sync, watch)
    listing = try RoomListing.current(sync, watch)
  }
}

/// Which rooms a request's lists and subscriptions mean, and how much of each is wanted.
struct SlidingWindow {
  struct Room {
    let room: ListedRoom
    var config: SlidingRequest.RoomConfig
    /// The lists in whose window it is.
    var lists: [ByteString]
  }

  /// In the order they were found.
  private(set) var rooms: [Room] = []
  /// How many rooms each list has, those outside its window included.
  private(set) var counts: [(list: ByteString, count: Int)] = []
  private(set) var places: [RoomNumber: Int] = [:]

  /// O(lists × rooms) comparisons.
  init(_ context: SlidingContext) throws {
    for list in context.request.lists {
      let filtered = try Self.filtered(list.filter, context)
      counts.append((list.name, filtered.count))
      guard let ranges = list.ranges else {
        for room in filtered { add(room, list.config, list.name) }
        continue
      }
      for range in ranges where range.lowerBound < filtered.count {
        for room in filtered[range.lowerBound...min(range.upperBound, filtered.count - 1)] { add(room, list.config, list.name) }
      }
    }
    guard !context.request.subscriptions.isEmpty else { return }
    let wanted = Dictionary(context.request.subscriptions.map { ($0.room, $0.config) }) { first, _ in first }
    for room in context.listing.rooms {
      if let config = wanted[room.roomID] { add(room, config, nil) }
    }
  }

  func lists(of room: RoomNumber) -> [ByteString] { places[room].map { rooms[$0].lists } ?? [] }

  private static func filtered(_ filter: SlidingFilter, _ context: SlidingContext) throws -> [ListedRoom] {
    let isOpen = filter.isOpen
    let children = try filter.spaces.map { try context.sync.children(of: $0) } ?? []
    return context.listing.rooms.filter { room in
      (room.isListed || context.content.rooms[room.number] != nil)
        && !(room.inviter.map { context.sync.sources.rooms.hidesInvitation(by: $0, from: context.account) } ?? false)
        && (isOpen || filter.matches(room, context.markers, children: children))
    }
  }

  private mutating func add(_ room: ListedRoom, _ config: SlidingRequest.RoomConfig, _ list: ByteString?) {
    let lists = list.map { [$0] } ?? []
    if let place = places[room.number] {
      rooms[place].config = rooms[place].config.union(config)
      rooms[place].lists += lists.filter { !rooms[place].lists.contains($0) }
      return
    }
    places[room.number] = rooms.count
    rooms.append(Room(room: room, config: config, lists: lists))
  }
}

extension SyncContext {
  /// The rooms that spaces the user is in name as theirs; those of spaces inside them are not looked for. MSC4186.
  fileprivate func children(of spaces: [RoomID]) throws -> Set<ByteString> {
    var children: Set<ByteString> = []
    for space in spaces {
      let cached = sources.rooms.cache.cachedSnapshot(of: space)
      guard let room = try cached ?? sources.rooms.cache.snapshot(of: space, in: try rows.transaction()), room.isJoined(user)
      else { continue }
      for (key, event) in room.state where key.type == "m.space.child" && event.content["via"]?.isArray ?? false {
        children.insert(key.stateKey)
      }
    }
    return children
  }
}
