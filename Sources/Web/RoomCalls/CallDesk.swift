import JSON
import MatrixModel
import Messenger
import WebHost

/// Calls in rooms, in the page: those between two (`DirectCalls`) and those of many (`GroupCalls`). The page says what is known of rooms and
/// what is said of calls in them (`Sources/Web/WebApp/Calls/CallProgram.swift`); it makes the requests, for it has the session.
final class CallDesk<D: DOM> {
  let dom: D
  private(set) var port: FramePort?
  private var server: Server?
  /// Of calls between two.
  private var place = Node.none
  private var rooms: [KnownRoom] = []
  /// The room that is open.
  private(set) var shown: RoomID?
  private(set) var direct: DirectCalls<D>?
  private(set) var group: GroupCalls<D>?

  /// Rooms that are remembered; those told last stay.
  private static var roomsLimit: Int { 32 }

  init(_ dom: D) { self.dom = dom }

  func start() {
    let port = FramePort { [self] in take($0) }
    let server = Server(port)
    self.port = port
    self.server = server
    place = dom.element("div", in: .root)
    group = GroupCalls(self, server)
    port.tell("loaded")
    dom.flush()
    Host.onPageChange { [self] in group?.pageChanged($0) }
  }

  // MARK: From the page

  func take(_ request: JSON) {
    let room = RoomID(request["room"])
    switch request.text("do") {
    case "session":
      // Somebody else may have signed in.
      close()
      rooms = []
      guard let server, let user = UserID(request["user"]), let device = DeviceID(request["device"]) else { break }
      direct = DirectCalls(self, server, user, in: place)
      group?.signedIn(user, device)
    case "room": learn(request)
    case "shown":
      shown = room
      group?.show(room)
      direct?.show()
    case "event": if let room { direct?.take(request, in: room) }
    case "synced": direct?.synced()
    case "left": if let room { direct?.left(room) }
    case "call": if let room { call(in: room, withCamera: request.bool("camera") ?? false) }
    case "answered": server?.answered(request)
    case "close": close()
    default: break
    }
    dom.flush()
  }

  private func close() {
    direct?.close()
    group?.close()
  }

  private func learn(_ request: JSON) {
    guard var room = KnownRoom(request) else { return }
    if let i = rooms.firstIndex(where: { $0.id == room.id }) { room.remember(rooms.remove(at: i).people) }
    rooms.append(room)
    if rooms.count > Self.roomsLimit, let old = rooms.firstIndex(where: { !isInUse($0.id) }) { rooms.remove(at: old) }
    group?.changed(room.id)
  }

  private func isInUse(_ room: RoomID) -> Bool {
    (group?.uses(room) ?? false) || (direct?.uses(room) ?? false)
  }

  func room(_ id: RoomID) -> KnownRoom? { rooms.first { $0.id == id } }

  private func call(in id: RoomID, withCamera: Bool) {
    if let user = room(id)?.directUser { direct?.place(id, user, withCamera: withCamera) } else { group?.join(id) }
  }

  // MARK: To the page

  /// The page opens that room.
  func open(_ room: RoomID) { port?.tell("open") { $0.member("room", room.text) } }

  func tell(_ words: String, isTrouble: Bool) {
    port?.tell("notice") {
      $0.member("words", words)
      $0.member("trouble", isTrouble)
    }
  }
}
