import JSON

@testable import ClientCore

/// A homeserver of many rooms that speaks v3 and simplified sliding sync. Answers may be asked for again; a restart forgets connections.
struct ModelHomeserver {
  struct Event {
    let body: String
    /// Counts through all rooms.
    let position: Int
  }

  struct Room {
    let id: String
    var events: [Event] = []
    var isJoined = true
    /// When the person left or came last.
    var movedAt = 0

    var newest: Int { max(events.last?.position ?? 0, movedAt) }

    func eventID(_ i: Int) -> String { "$\(id.dropFirst().prefix { $0 != ":" })-\(i)" }
  }

  /// What one answer of a connection has told.
  private struct Told {
    var position = 0
    var rooms: [String: (upTo: Int, limit: Int, isJoined: Bool)] = [:]
  }

  private(set) var rooms: [Room]
  var offersSliding = true
  private var position = 1
  private var answers: [Int: Told] = [:]
  private var lastAnswer = 0

  /// Events of a first or limited timeline: v3, the list, a subscription.
  private let limits = (v3: 3, list: 2, subscription: 5)

  init(roomCount: Int) {
    rooms = (0..<roomCount).map { Room(id: "!r\($0):test") }
    for i in rooms.indices { say(in: i) }
  }

  mutating func say(in i: Int) {
    guard rooms[i].isJoined else { return }
    position += 1
    rooms[i].events.append(Event(body: "\(i).\(rooms[i].events.count)", position: position))
  }

  mutating func move(in i: Int) {
    position += 1
    rooms[i].isJoined.toggle()
    rooms[i].movedAt = position
  }

  /// As when it starts again.
  mutating func forgetConnections() { answers = [:] }

  private func events(_ room: Room, _ range: Range<Int>) -> [String] {
    range.map { i in
      Wire.message(room.events[i].body, room.eventID(i), time: 1_700_000_000_000 + room.events[i].position)
    }
  }

  var versions: String {
    #"{"versions":["v1.11"],"unstable_features":{"org.matrix.simplified_msc3575":\#(offersSliding)}}"#
  }

  // MARK: v3

  func sync(since: Int?) -> String {
    var join: [String] = []
    var leave: [String] = []
    for room in rooms where room.newest > since ?? 0 {
      guard room.isJoined else {
        if let since, room.movedAt > since { leave.append(Wire.joined([], room: room.id)) }
        continue
      }
      let isNew = since == nil || room.movedAt > since ?? 0
      let first = isNew ? 0 : room.events.firstIndex { $0.position > since ?? 0 } ?? room.events.count
      let from = max(first, room.events.count - limits.v3)
      join.append(
        Wire.joined(
          events(room, from..<room.events.count), state: isNew ? Wire.members : [], limited: from > first,
          token: from == 0 ? nil : "p\(from)", room: room.id, extra: Wire.counts))
    }
    return
      #"{"next_batch":"\#(position)","rooms":{"join":{\#(join.joined(separator: ","))},"leave":{\#(leave.joined(separator: ","))}}}"#
  }

  // MARK: Sliding sync

  /// nil for a position that is not known.
  mutating func slide(pos: Int?, _ body: JSON) -> String? {
    var told = Told()
    if let pos {
      guard let known = answers[pos] else { return nil }
      told = known
    }
    let end = body["lists"]?["all"]?["ranges"].map { Array(Array($0.elements)[0].elements)[1].integer ?? 0 } ?? 0
    let subscribed = Set(body["room_subscriptions"]?.members.map { $0.key.string } ?? [])
    let listed = rooms.filter { $0.isJoined || told.rooms[$0.id] != nil }.sorted { $0.newest > $1.newest }
    var entries: [String] = []
    for (i, room) in listed.enumerated() where i <= end || subscribed.contains(room.id) {
      let limit = subscribed.contains(room.id) ? limits.subscription : limits.list
      if let entry = tell(room, limit, &told) { entries.append(entry) }
    }
    told.position = position
    lastAnswer += 1
    answers[lastAnswer] = told
    return
      #"{"pos":"\#(lastAnswer)","lists":{"all":{"count":\#(listed.count)}},"rooms":{\#(entries.joined(separator: ","))},"extensions":{}}"#
  }

  private func tell(_ room: Room, _ limit: Int, _ told: inout Told) -> String? {
    let known = told.rooms[room.id]
    told.rooms[room.id] = (room.newest, limit, room.isJoined)
    guard room.isJoined else {
      let own = Wire.member("@me:test", "leave", "$left\(room.movedAt)")
      return known?.isJoined ?? false ? Sliding.room(room.id, state: [own]) : nil
    }
    let isInitial = !(known?.isJoined ?? false) || room.movedAt > known?.upTo ?? 0
    let isExpanded = !isInitial && limit > known?.limit ?? 0
    guard isInitial || isExpanded || room.newest > known?.upTo ?? 0 else { return nil }
    let first = isInitial || isExpanded ? 0 : room.events.firstIndex { $0.position > known?.upTo ?? 0 } ?? room.events.count
    let from = max(first, room.events.count - limit)
    return Sliding.room(
      room.id, events(room, from..<room.events.count), initial: isInitial, state: isInitial ? Wire.members : [],
      limited: from > first, token: from == 0 ? nil : "p\(from)",
      extra: (isInitial ? Sliding.counts : "") + (isExpanded ? #","unstable_expanded_timeline":true"# : ""))
  }

  // MARK: History

  func page(_ id: String, from position: Int?) -> String {
    guard let room = rooms.first(where: { $0.id == id }) else { return #"{"chunk":[]}"# }
    let end = position ?? room.events.count
    let start = max(0, end - 3)
    let chunk = events(room, start..<end).reversed().joined(separator: ",")
    return #"{"start":"x","chunk":[\#(chunk)]"# + (start == 0 ? "}" : #","end":"p\#(start)"}"#)
  }
}
