import ClientCore
import ClientHost
import EncryptionLink
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// Calls in rooms. Their program is another one (`Sources/Web/RoomCalls`), loaded when there is first a call: it is told what is known of
/// rooms and what is said of calls in them, and asks the homeserver through this one, which has the session.
final class CallProgram<D: DOM> {
  let app: App<D>
  /// Where that program draws.
  private let place: Node
  private(set) var port: FramePort?
  private var shown: RoomID?
  /// Whether an event of a call came in the sync that is being told.
  private var hasNews = false
  /// Whether the homeserver has calls of many.
  private(set) var offersGroupCalls = false
  var onOffered: () -> Void = {}
  /// The room of the call that one is in, and whether there is a picture in it.
  private(set) var ongoing: (room: RoomID, isSeen: Bool)?
  var onOngoing: () -> Void = {}
  /// What is open before a call that rings is answered.
  var answering: (call: Int64, frame: DialogFrame<D>)?
  /// What the browser lets the page use; replaced in tests.
  var learnPermission: (CaptureKinds, @escaping (CapturePermission) -> Void) -> Void = Host.learnPermission

  /// In rooms of so many people a call rings everybody; larger ones show that one goes on.
  private static var smallRoom: Int { 5 }

  init(_ app: App<D>, in parent: Node) {
    self.app = app
    place = app.dom.element("div", "ma-calls", in: parent)
    app.dom.markPart(place)
    app.dom.setAttribute(place, "id", "RoomCalls")
    app.effects.encryption.onReceived = { [self] in received($0) }
    guard Host.canCall else { return }
    app.ask(Query<Bool>.offersRoomCalls) { [self] answer in
      guard case .success(true) = answer else { return }
      offersGroupCalls = true
      onOffered()
      if let shown { notice(shown) }
    }
  }

  func close() { port?.request("close") }

  // MARK: What is told

  func show(_ room: RoomID?) {
    guard room != shown else { return }
    shown = room
    if let room { notice(room) }
    tellShown()
  }

  func changed(_ id: RoomID, _ aspects: RoomAspects) {
    if aspects.contains(.call) {
      notice(id)
    } else if id == shown || id == ongoing?.room, !aspects.isDisjoint(with: [.name, .members]) {
      tell(id)
    }
    if aspects.contains(.membership), app.client.room(id)?.membership != .join { request("left", id) }
  }

  /// What a sync brought, of calls or not.
  func arrived(_ id: RoomID, _ events: [Event]) {
    var callers: [UserID] = []
    for event in events where event.type.isOfCall {
      if let sender = event.sender { callers.append(sender) }
    }
    guard !callers.isEmpty else { return }
    hasNews = true
    open()
    tell(id, callers)
    for event in events where event.type.isOfCall {
      let age = event.unsigned?.integer("age")
      request("event", id) { writer in
        writer.member("type", event.type.text)
        if let sender = event.sender { writer.member("sender", sender.text) }
        writer.member("at", age.map { Host.wallClockMilliseconds() &- $0 } ?? event.originServerTimestamp ?? 0)
        writer.member("content", event.content)
      }
    }
  }

  /// All of a sync was told.
  func settle() {
    guard hasNews else { return }
    hasNews = false
    port?.request("synced")
  }

  func call(in room: RoomID, _ setup: CallSetup) {
    open()
    tell(room)
    learnMembers(of: room)
    request("call", room) { setup.write(to: &$0) }
  }

  func answer(_ call: Int64, _ setup: CallSetup) {
    port?.request("answer") { writer in
      writer.member("call", call)
      setup.write(to: &writer)
    }
  }

  private func open() {
    guard port == nil, let session = app.client.session else { return }
    port = FramePort("#RoomCalls") { [self] in take($0) }
    port?.request("session") {
      $0.member("user", session.userID.text)
      $0.member("device", session.deviceID.text)
      $0.member("server", app.effects.server.base)
    }
    tellShown()
  }

  private func tellShown() { port?.request("shown") { if let shown { $0.member("room", shown.text) } } }

  /// A call of many may go on there.
  private func notice(_ id: RoomID) {
    if offersGroupCalls, let room = app.client.room(id), room.membership == .join, !room.callMembers.isEmpty { open() }
    tell(id)
  }

  /// - Parameter callers: who is to have a name there beside those in the room's call.
  func tell(_ id: RoomID, _ callers: [UserID] = []) {
    guard let room = app.client.room(id), room.membership == .join else { return }
    request("room", id) { writer in
      writer.member("name", Strings.words(for: room.name))
      if let avatar = app.avatarSource(room.avatar) { writer.member("avatar", avatar) }
      writer.member("public", room.joinRule == .public)
      writer.member("encrypted", room.isEncrypted)
      writer.member("small", room.joinedMemberCount <= Self.smallRoom && app.client.notificationMode(of: id) != .mute)
      var people = room.callUsers + callers
      if let user = room.directUserID {
        writer.member("direct", user.text)
        people.append(user)
      }
      writer.key("members")
      writer.array { writer in if offersGroupCalls { for event in room.callMembers { writer.raw(event) } } }
      writer.key("people")
      writer.array { writer in
        for user in people where room.membership(of: user) ?? .join == .join {
          writer.object { writer in
            writer.member("user", user.text)
            writer.member("name", room.displayName(of: user))
            // Others get no keys of a call.
            writer.member("joined", room.membership(of: user) == .join)
            if let avatar = app.avatarSource(room.avatar(of: user)) { writer.member("avatar", avatar) }
          }
        }
      }
    }
  }

  func request(_ name: StaticString, _ room: RoomID, _ members: (inout JSONWriter) -> Void = { _ in }) {
    port?.request(name) { writer in
      writer.member("room", room.text)
      members(&writer)
    }
  }

  // MARK: What is asked

  func take(_ json: JSON) {
    if json["id"] != nil { return ask(json) }
    let room = RoomID(json["room"])
    switch json.text("event") {
    case "notice":
      guard let words = json["words"]?.string, !app.effects.isStopped else { break }
      app.notices.show(words, isTrouble: json.bool("trouble") ?? false)
    case "open": if let room { app.goTo(.room(room)) }
    case "join": if let room { prepare(room, withCamera: nil) }
    case "answer":
      if let room, let call = json.integer("call") { prepare(toAnswer: call, in: room, json.bool("camera") ?? false) }
    case "unreachable":
      // The next call loads it anew.
      port = nil
      app.notices.show(Strings.words(for: ClientError.network), isTrouble: true)
    case "tell": if let room { tell(json, room) }
    case "silent": if let answering, answering.call == json.integer("call") { answering.frame.close() }
    case "calling":
      ongoing = room.map { ($0, json.bool("seen") ?? false) }
      onOngoing()
    default: break
    }
    app.dom.flush()
  }

  private func ask(_ json: JSON) {
    let query = Query<JSON>.passedOn(json.text("method") ?? "", json["path"]?.string ?? "", json["body"]?.bytes ?? [])
    app.ask(query) { [self] answer in
      port?.request("answered") { writer in
        writer.member("id", json.integer("id") ?? 0)
        switch answer {
        case .success(let json): writer.member("answer", json)
        case .failure(let error): writer.member("error", Strings.words(for: error))
        }
      }
    }
  }
}
