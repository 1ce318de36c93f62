import Database
import JSON
import MatrixModel
import ServerCore
import ServerRooms

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
    watch.syncMemory.remember(account)
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
  /// By which lists and subscription each of `rooms` is meant, in the order of the request.
  private var meanings: [[Int]] = []

  /// O(lists × rooms) comparisons.
  init(_ context: SlidingContext) throws {
    let lists = context.request.lists
    for (index, list) in lists.enumerated() {
      let filtered = try Self.filtered(list.filter, context)
      counts.append((list.name, filtered.count))
      for range in list.ranges ?? [0...Int.max] where range.lowerBound < filtered.count {
        for room in filtered[range.lowerBound...min(range.upperBound, filtered.count - 1)] { add(room, index) }
      }
    }
    // What is wanted of a room follows its lists and its subscription in the numbers.
    var configs = lists.map(\.config)
    if !context.request.subscriptions.isEmpty {
      var wanted: [RoomID: Int] = [:]
      for (room, config) in context.request.subscriptions where wanted[room] == nil {
        wanted[room] = configs.count
        configs.append(config)
      }
      for room in context.listing.rooms {
        if let index = wanted[room.roomID] { add(room, index) }
      }
    }
    // Most rooms are meant by the same lists: what these ask for together is put together once.
    var unions: [[Int]: SlidingRequest.RoomConfig] = [:]
    for place in rooms.indices {
      let meaning = meanings[place]
      let config = unions[meaning] ?? .union(of: meaning.map { configs[$0] })
      guard let config else { continue }
      unions[meaning] = config
      rooms[place].config = config
      rooms[place].lists = meaning.prefix { $0 < lists.count }.map { lists[$0].name }
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

  private mutating func add(_ room: ListedRoom, _ index: Int) {
    if let place = places[room.number] {
      meanings[place].append(index)
      return
    }
    places[room.number] = rooms.count
    rooms.append(Room(room: room, config: Self.nothing, lists: []))
    meanings.append([index])
  }

  private static let nothing = SlidingRequest.RoomConfig(timelineLimit: 0, requiredState: RequiredState())
}

extension SyncContext {
  /// The rooms that spaces the user is in name as theirs; those of spaces inside them are not looked for. MSC4186.
  fileprivate func children(of spaces: Set<RoomID>) throws -> Set<ByteString> {
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
