import Database
import JSON
import MatrixModel
import ServerAccounts
import ServerCore
import ServerRooms

/// What the extensions of one answer tell. Spec: the proposals at `SlidingExtensionRequest`.
struct SlidingExtensions {
  private(set) var toDevice: (messages: [ToDeviceMessages.Message], next: ByteString)?
  private(set) var deviceLists: DeviceListStream?
  /// Counts of keys, as members of the answer.
  private(set) var keyCounts: [UInt8]?
  private(set) var accountData: (ofAccount: [AccountData.Entry], ofRooms: [(room: RoomID, entries: [AccountData.Entry])])?
  private(set) var receipts: [(room: RoomID, event: [UInt8])]?
  private(set) var typing: [(room: RoomID, event: [UInt8])]?
  private(set) var threads: ThreadUpdates?
  /// Whether a client that waits has to be answered.
  private(set) var isNews = false

  /// - Parameter told: the rooms of this answer.
  init(_ context: SlidingContext, _ window: SlidingWindow, told: [SlidingRoom]) throws {
    let wanted = context.request.extensions
    if let own = wanted.toDevice { try gatherToDevice(own, context) }
    if wanted.endToEnd { try gatherEndToEnd(context) }
    if let scope = wanted.accountData { try gatherAccountData(scope, context, window, told) }
    if let scope = wanted.receipts { try gatherReceipts(scope, context, window, told) }
    if let scope = wanted.typing { gatherTyping(scope, context, window, told) }
    if let own = wanted.threads, let since = context.content.seen?.position {
      let updates = try ThreadUpdates(own, since: since, told: told, context)
      threads = updates
      if !updates.isEmpty { isNews = true }
    }
  }

  // MARK: The device

  private mutating func gatherToDevice(_ own: SlidingExtensionRequest.ToDevice, _ context: SlidingContext) throws {
    let end = context.sync.to.position
    guard context.watch.position.load(ordering: .sequentiallyConsistent) > own.since else {
      toDevice = ([], SlidingExtensionRequest.token(max(own.since, 0)))
      return
    }
    let page = try ToDeviceMessages.messages(
      try context.rows.transaction(), for: context.user, context.request.deviceID, after: own.since, upTo: end,
      limit: own.limit)
    let next = page.isLimited ? page.messages.last?.position ?? end : max(end, own.since)
    toDevice = (page.messages, SlidingExtensionRequest.token(next))
    guard let last = page.messages.last else { return }
    context.sync.delivery.handedOut(upTo: last.position)
    isNews = true
  }

  private mutating func gatherEndToEnd(_ context: SlidingContext) throws {
    let counts = try KeyCountStream.read(context.sync, context.watch)
    keyCounts = counts.members
    if counts.members != context.content.keyCounts { isNews = true }
    guard let since = Self.deviceListStart(context) else { return }
    let lists = try context.sync.since(since).deviceLists(context.watch)
    deviceLists = lists
    if !lists.isEmpty { isNews = true }
  }

  /// From where on changes of device lists are told: a connection that begins anew goes on where the device's messages do.
  private static func deviceListStart(_ context: SlidingContext) -> SyncPosition? {
    if context.content.hasEndToEnd { return context.content.seen }
    guard let since = context.request.extensions.toDevice?.since, since > 0, since <= context.sync.to.position else {
      return nil
    }
    return SyncPosition(position: since, typing: 0)
  }

  // MARK: Rooms

  private mutating func gatherAccountData(
    _ scope: SlidingExtensionRequest.Scope, _ context: SlidingContext, _ window: SlidingWindow, _ told: [SlidingRoom]
  ) throws {
    let isFirst = !context.content.hasAccountData
    let stream = isFirst ? try AccountDataStream.ofAccount(context.sync) : try AccountDataStream.changes(context.sync)
    var ofRooms: [(room: RoomID, entries: [AccountData.Entry])] = []
    var whole: Set<RoomID> = []
    func takeAll(of room: RoomID) throws {
      guard whole.insert(room).inserted, scope.contains(room, in: window, context) else { return }
      let entries = try AccountData.all(try context.rows.transaction(), of: context.user, in: room)
      if !entries.isEmpty { ofRooms.append((room, entries)) }
    }
    for room in told where room.inside?.isInitial ?? false { try takeAll(of: room.room.roomID) }
    if isFirst {
      for number in context.content.rooms.keys { if let room = try context.sync.room(number) { try takeAll(of: room.roomID) } }
    } else {
      for (room, entries) in stream.ofRooms where !whole.contains(room) {
        guard let number = context.listing.number(of: room), context.content.rooms[number] != nil,
          scope.contains(room, in: window, context)
        else { continue }
        ofRooms.append((room, entries))
      }
    }
    accountData = (stream.ofAccount, ofRooms)
    if !stream.ofAccount.isEmpty || !ofRooms.isEmpty { isNews = true }
  }

  /// Of a room that is told whole.
  static let fewReceipts = 20

  private mutating func gatherReceipts(
    _ scope: SlidingExtensionRequest.Scope, _ context: SlidingContext, _ window: SlidingWindow, _ told: [SlidingRoom]
  ) throws {
    var events: [(room: RoomID, event: [UInt8])] = []
    let end = context.sync.to.position
    func add(_ room: RoomSnapshot, after start: Int64, onlyIfMany isWanted: ((Receipt) -> Bool)? = nil) throws {
      guard scope.contains(room.roomID, in: window, context) else { return }
      var receipts = try context.sync.sources.receipts.changes(
        in: room.number, after: start, upTo: end, for: context.user, context.rows
      ).filter { !context.account.ignored.contains($0.user) }
      if let isWanted, receipts.count > Self.fewReceipts { receipts = receipts.filter(isWanted) }
      if !receipts.isEmpty { events.append((room.roomID, EphemeralStream.receipts(receipts))) }
    }
    var initial: Set<RoomNumber> = []
    for room in told {
      guard let inside = room.inside, inside.isInitial, room.membership == .join else { continue }
      initial.insert(room.room.number)
      // In a large room, only receipts of the events in the answer, and the user's own. In a small room all of them: a client with a new
      // connection would otherwise miss a receipt that moved meanwhile.
      let shown = Set(inside.timeline.events.map(\.position))
      try add(room.room, after: 0, onlyIfMany: { $0.user == context.user || shown.contains($0.event) })
    }
    for room in try context.liveRooms() where !initial.contains(room.number) {
      try add(room, after: context.sync.since)
    }
    receipts = events
    if !events.isEmpty { isNews = true }
  }

  private mutating func gatherTyping(
    _ scope: SlidingExtensionRequest.Scope, _ context: SlidingContext, _ window: SlidingWindow, _ told: [SlidingRoom]
  ) {
    var events: [(room: RoomID, event: [UInt8])] = []
    let source = context.sync.sources.rooms.typing
    func add(_ room: RoomSnapshot, isInitial: Bool) {
      guard scope.contains(room.roomID, in: window, context) else { return }
      let typing = source.users(in: room.number)
      let seen = context.content.seen?.typing ?? 0
      guard isInitial ? !typing.users.isEmpty : typing.version > seen else { return }
      events.append((room.roomID, EphemeralStream.typing(typing.users.filter { !context.account.ignored.contains($0) })))
    }
    var initial: Set<RoomNumber> = []
    for room in told where room.inside?.isInitial ?? false && room.membership == .join {
      initial.insert(room.room.number)
      add(room.room, isInitial: true)
    }
    for room in (try? context.liveRooms()) ?? [] where !initial.contains(room.number) { add(room, isInitial: false) }
    typing = events
    if !events.isEmpty { isNews = true }
  }
}

extension SlidingExtensionRequest.Scope {
  fileprivate func contains(_ room: RoomID, in window: SlidingWindow, _ context: SlidingContext) -> Bool {
    contains(room, in: context.listing.number(of: room).map { window.lists(of: $0) } ?? [])
  }
}

extension SlidingContext {
  /// Rooms the connection was told of, the user is in, and where something happened since.
  func liveRooms() throws -> [RoomSnapshot] {
    guard let seen = content.seen else { return [] }
    return try watch.rooms(withNewsAfter: seen).compactMap { number in
      guard content.rooms[number]?.membership == .join, let room = try sync.room(number), room.isJoined(user) else {
        return nil
      }
      return room
    }
  }
}

extension SyncContext {
  /// The same with another beginning.
  fileprivate func since(_ position: SyncPosition) -> SyncContext {
    SyncContext(
      request: request, from: position, to: to, toDeviceFrom: toDeviceFrom, hasOwnNews: hasOwnNews || position.position < since,
      delivery: delivery, sources: sources, rows: rows)
  }

  /// Whose devices changed, in all rooms the user is or was in: as v3 sync has it.
  func deviceLists(_ watch: UserWatch) throws -> DeviceListStream {
    guard let from else { return DeviceListStream() }
    // Rooms before own news: who goes out of a room meanwhile has news of their own.
    var numbers = Set(watch.rooms(withNewsAfter: from))
    if watch.position.load(ordering: .sequentiallyConsistent) > from.position {
      for (number, entry) in try memberships() where entry.position > from.position { numbers.insert(number) }
    }
    var joined: [RoomSnapshot] = []
    var left: [(room: RoomSnapshot, leftAt: Int64)] = []
    for number in numbers {
      guard let room = try room(number) else { continue }
      switch try membership(in: room, at: to.position) {
      case .join: joined.append(room)
      case .leave, .ban:
        guard try membership(in: room, at: from.position) == .join, let leftAt = try leavePosition(in: room) else { continue }
        left.append((room, leftAt))
      default: continue
      }
    }
    return try DeviceListStream.changes(rooms: joined, leftRooms: left, self)
  }
}
