import JSON
import MatrixModel

/// The rooms that somebody visited last, the last one first: `im.vector.setting.breadcrumbs` of the account, so that they are the same on every
/// device.
public struct Breadcrumbs: Sendable {
  public internal(set) var rooms: [RoomID] = []
  /// Their way to the server. While there is one, what the server says is older.
  var isUnderWay = false
  var isDirty = false

  static let type: EventType = "im.vector.setting.breadcrumbs"

  init() {}

  init(content: JSON) {
    guard let listed = content["recent_rooms"] else { return }
    for element in listed.elements.prefix(Limits.breadcrumbs) {
      if let room = RoomID(element), !rooms.contains(room) { rooms.append(room) }
    }
  }

  mutating func visit(_ room: RoomID) {
    rooms.removeAll { $0 == room }
    rooms.insert(room, at: 0)
    if rooms.count > Limits.breadcrumbs { rooms.removeLast() }
  }

  var content: [UInt8] {
    JSONWriter.object { writer in writer.array("recent_rooms", rooms) { $1.write($0) } }
  }
}

extension Client {
  mutating func visit(_ room: RoomID, _ id: CommandID) {
    guard rooms[room] != nil else { return finish(id, .failed(.unknownRoom)) }
    finish(id, .done)
    if breadcrumbs.rooms.first == room { return }
    breadcrumbs.visit(room)
    breadcrumbs.isDirty = true
    write([.put(key: StoreKey.data(Breadcrumbs.type), value: breadcrumbs.content)])
    notify(.breadcrumbs)
    sendBreadcrumbs()
  }

  /// One request at a time; what comes meanwhile goes with the next.
  private mutating func sendBreadcrumbs() {
    guard breadcrumbs.isDirty, !breadcrumbs.isUnderWay, sessionState == .signedIn, isOnline else { return }
    breadcrumbs.isDirty = false
    breadcrumbs.isUnderWay = true
    setAccountData(Breadcrumbs.type, breadcrumbs.content, .breadcrumbs)
  }

  mutating func breadcrumbsAnswered() {
    breadcrumbs.isUnderWay = false
    sendBreadcrumbs()
  }

  /// Of another device.
  mutating func take(_ new: Breadcrumbs) {
    guard !breadcrumbs.isDirty, !breadcrumbs.isUnderWay, new.rooms != breadcrumbs.rooms else { return }
    breadcrumbs.rooms = new.rooms
    notify(.breadcrumbs)
  }
}
