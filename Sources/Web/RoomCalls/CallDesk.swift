import CallCore
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
  /// As the page was told last.
  private var ongoing = Ongoing()
  /// The call that the page was asked to answer.
  private var prepared: CallHandle?

  /// The call that one is in.
  private struct Ongoing: Equatable {
    var room: RoomID?
    /// Whether there is a picture in it.
    var isSeen = false
  }

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
      server.base = request["server"]?.string ?? ""
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
    case "call": if let room { call(in: room, CallSetup(request)) }
    case "answer":
      if let call = request.integer("call") { direct?.answer(CallHandle(truncatingIfNeeded: call), CallSetup(request)) }
    case "answered": server?.answered(request)
    case "key": if let call = group?.ongoing, call.room == room { call.sealed?.received(request) }
    case "told": if let call = group?.ongoing, call.room == room { call.told(request) }
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

  private func call(in id: RoomID, _ setup: CallSetup) {
    if let user = room(id)?.directUser { direct?.place(id, user, setup) } else { group?.join(id, setup) }
  }

  // MARK: To the page

  /// The page opens that room.
  func open(_ room: RoomID) { port?.tell("open") { $0.member("room", room.text) } }

  /// The page shows what one will be seen and heard by, and then asks for the `call`.
  func prepare(toJoin room: RoomID) { port?.tell("join") { $0.member("room", room.text) } }

  /// The same before an `answer`, unless one may be seen and heard already.
  func prepare(toAnswer call: CallHandle, in room: RoomID, withCamera: Bool) {
    prepared = call
    port?.tell("answer") {
      $0.member("room", room.text)
      $0.member("call", Int64(call))
      $0.member("camera", withCamera)
    }
  }

  /// It need not be answered any more.
  func stoppedRinging(_ call: CallHandle) {
    guard call == prepared else { return }
    prepared = nil
    port?.tell("silent") { $0.member("call", Int64(call)) }
  }

  /// The user has joined or left a call: the page makes room for it.
  func callsChanged() {
    let room = group?.ongoing?.room ?? direct?.room
    let now = Ongoing(room: room, isSeen: group?.ongoing != nil || direct?.showsPictures ?? false)
    guard now != ongoing else { return }
    ongoing = now
    port?.tell("calling") {
      if let room { $0.member("room", room.text) }
      $0.member("seen", now.isSeen)
    }
  }

  /// The page encrypts an event for these devices, sends it, and says `told` with the number.
  func tell(_ devices: [CallDeviceName], of room: RoomID, _ number: UInt64, _ type: ByteString, _ content: [UInt8]) {
    port?.tell("tell") { writer in
      writer.member("room", room.text)
      writer.member("number", Int64(clamping: number))
      writer.member("type", type)
      writer.key("content")
      writer.raw(content)
      writer.array("devices", devices) { device, writer in
        writer.object { writer in
          writer.member("user", device.user.text)
          writer.member("device", device.device)
        }
      }
    }
  }

  func tell(_ words: String, isTrouble: Bool) {
    port?.tell("notice") {
      $0.member("words", words)
      $0.member("trouble", isTrouble)
    }
  }
}
