import JSON
import MatrixModel
import Testing

@testable import ClientCore

/// A copy of a list that knows its changes only.
struct RoomListMirror {
  let id: RoomListID
  let query: RoomListQuery
  var rooms: [[RoomID]]
  private(set) var steps: [RoomListChange] = []

  init(_ id: RoomListID, _ query: RoomListQuery, in host: inout Host) {
    self.id = id
    self.query = query
    rooms = query.sections.map { _ in [] }
    host.command(.roomList(.open(id, query)))
    follow(&host)
  }

  /// Takes the changes that the host has noted, and forgets those before.
  mutating func follow(_ host: inout Host) {
    steps = []
    for case .roomList(id, let changes) in host.changes { steps += changes }
    for step in steps { apply(step) }
  }

  private mutating func apply(_ step: RoomListChange) {
    switch step {
    case .inserted(let room, let place): rooms[shelf(place)].insert(room, at: place.index)
    case .removed(let room, let place):
      let removed = rooms[shelf(place)].remove(at: place.index)
      #expect(removed == room)
    case .moved(let room, let from, let to):
      let removed = rooms[shelf(from)].remove(at: from.index)
      #expect(removed == room)
      rooms[shelf(to)].insert(room, at: to.index)
    case .updated(let room, let place): #expect(rooms[shelf(place)][place.index] == room)
    case .reset(let new): rooms = new
    }
  }

  private func shelf(_ place: RoomListPlace) -> Int { query.sections.firstIndex(of: place.section) ?? -1 }

  var names: [[String]] { rooms.map { $0.map { $0.string } } }
}

extension Host {
  /// Opens a list, follows it while `body` changes things, and returns its steps since then.
  mutating func steps(of mirror: inout RoomListMirror, _ body: (inout Host) -> Void) -> [RoomListChange] {
    changes = []
    body(&self)
    mirror.follow(&self)
    return mirror.steps
  }
}

/// Rooms as a sync brings them.
struct WireRoom {
  var id: String
  var name: String?
  var time: Int?
  var tags: [String: String]?
  var markedUnread: Bool?
  var hidden: Bool?
  var spaceOrder: String?
  var notifications: Int?
  var highlights = 0
  var state: [String] = []

  init(_ id: String, _ name: String? = nil, time: Int? = nil) {
    self.id = id
    self.name = name
    self.time = time
  }

  var json: String {
    var state = state
    if let name { state.append(Wire.event("m.room.name", "$n\(id)\(name)", #"{"name":"\#(name)"}"#, stateKey: "")) }
    var data: [String] = []
    if let tags {
      let members = tags.sorted { $0.key < $1.key }.map { #""\#($0.key)":\#($0.value)"# }.joined(separator: ",")
      data.append(#"{"type":"m.tag","content":{"tags":{\#(members)}}}"#)
    }
    if let markedUnread { data.append(#"{"type":"m.marked_unread","content":{"unread":\#(markedUnread)}}"#) }
    if let hidden { data.append(#"{"type":"martlet.hidden","content":\#(hidden ? #"{"before":5}"# : "{}")}"#) }
    if let spaceOrder { data.append(#"{"type":"org.matrix.msc3230.space_order","content":{"order":"\#(spaceOrder)"}}"#) }
    var extra = data.isEmpty ? "" : #","account_data":{"events":[\#(data.joined(separator: ","))]}"#
    if let notifications {
      extra += #","unread_notifications":{"notification_count":\#(notifications),"highlight_count":\#(highlights)}"#
    }
    let events = time.map { [Wire.message("m", "$\(id)\($0)", time: $0)] } ?? []
    return Wire.joined(events, state: state, room: id, extra: extra)
  }

  static func join(_ rooms: [WireRoom]) -> String { #""join":{"# + rooms.map { $0.json }.joined(separator: ",") + "}" }

  static func invite(_ id: String, name: String = "Invited") -> String {
    #""invite":{"\#(id)":{"invite_state":{"events":["#
      + Wire.event("m.room.member", "$i", time: 5, #"{"membership":"invite"}"#, stateKey: "@me:test") + ","
      + Wire.event("m.room.name", "$in", #"{"name":"\#(name)"}"#, stateKey: "") + "]}}}"
  }

  static func leave(_ id: String) -> String {
    #""leave":{"\#(id)":{"timeline":{"events":["#
      + Wire.event("m.room.member", "$l\(id)", by: "@me:test", #"{"membership":"leave"}"#, stateKey: "@me:test") + "]}}}"
  }
}
