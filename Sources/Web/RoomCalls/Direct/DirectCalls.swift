import CallCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// Calls between two: the state machine (`MatrixCalls`) among the server, the browser's media and what is shown of it.
final class DirectCalls<D: DOM> {
  /// Between two rings.
  private static var ringMilliseconds: Double { 2_500 }

  let desk: CallDesk<D>
  private let server: Server
  private let user: UserID
  /// Where a call is shown.
  private let place: Node
  private var calls: MatrixCalls
  private var port: MediaPort?
  private var panel: DirectCallPanel<D>?
  private var timer: HostTask?
  private var bell: HostTask?
  private var waiting: [Outgoing] = []
  private var isSending = false
  private var isClosed = false
  private var lastTransaction = 0
  private let transactions: String

  private struct Outgoing {
    let call: CallHandle
    let room: RoomID
    let type: EventType
    let content: [UInt8]
  }

  init(_ desk: CallDesk<D>, _ server: Server, _ user: UserID, in place: Node) {
    self.desk = desk
    self.server = server
    self.user = user
    self.place = place
    var seed: UInt64 = 0
    for byte in Host.randomBytes(8) { seed = seed << 8 | UInt64(byte) }
    calls = MatrixCalls(user: user, randomSeed: seed)
    transactions = "call" + String(seed, radix: 36) + "."
  }

  func close() {
    isClosed = true
    for call in calls.calls { handle(.command(call.state == .ringing ? .silence(call.handle) : .hangUp(call.handle))) }
    timer?.cancel()
    bell?.cancel()
    panel?.close()
    panel = nil
    port = nil
  }

  // MARK: From the page

  /// An event of a call, as it came. `at` is when it was sent, in milliseconds since 1970 by the clock of this machine.
  func take(_ json: JSON, in room: RoomID) {
    guard let sender = UserID(json["sender"]), let type = EventType(json["type"]), let content = json["content"] else { return }
    let age = Host.wallClockMilliseconds().subtractingReportingOverflow(json.integer("at") ?? 0)
    handle(
      .event(
        MatrixCallEvent(
          room: room, sender: sender, type: type, content: Array(content.bytes),
          ageMilliseconds: age.overflow ? .max : age.partialValue,
          regard: desk.room(room)?.isPublic ?? false ? .stranger : .known)))
  }

  /// A sync is through.
  func synced() { handle(.synced) }

  func left(_ room: RoomID) { handle(.left(room, user)) }

  func uses(_ room: RoomID) -> Bool { calls.calls.contains { $0.room == room } }

  // MARK: From the person

  var isBusy: Bool { calls.calls.contains { !$0.isEnded && ($0.isAnswered || $0.isOutgoing) } }

  func place(_ room: RoomID, _ invitee: UserID, withCamera: Bool) {
    guard !isBusy else { return }
    learnServers { [self] in
      if !isClosed { handle(.command(.place(room, invitee: invitee, audio: true, video: withCamera))) }
    }
  }

  /// Who relays where the two cannot reach each other; what is known of it does not last.
  private func learnServers(_ then: @escaping () -> Void) {
    server.ask(.get, Endpoint.getTurnServer.path()) { [self] answer in
      if case .done(let json) = answer, let urls = json["uris"]?.elements.compactMap({ $0.text }), !urls.isEmpty {
        handle(.iceServers([ICEServer(urls: urls, username: json.text("username"), credential: json.text("password"))]))
      }
      then()
    }
  }

  func perform(_ command: MatrixCallCommand) { handle(.command(command)) }

  // MARK: The machine

  private func handle(_ input: MatrixCallInput) {
    for effect in calls.handle(input, now: Int64(Host.monotonicMilliseconds())) {
      switch effect {
      case .send(let call, let room, let type, let content):
        waiting.append(Outgoing(call: call, room: room, type: type, content: content))
        sendNext()
      case .media(let effect): media.post(effect.message)
      case .wake(let time): wake(at: time)
      case .change(let call): changed(call)
      case .replaced(let old, let new): if panel?.call == old { panel?.call = new }
      }
    }
    desk.dom.flush()
  }

  private var media: MediaPort {
    if let port { return port }
    let port = MediaPort { [self] json in if let input = MediaInput(json) { handle(.media(input)) } }
    self.port = port
    return port
  }

  private func wake(at time: Int64?) {
    timer?.cancel()
    timer = time.map { Host.at(milliseconds: $0) { [self] in handle(.time) } }
  }

  /// One after the other: the other side takes them in this order.
  private func sendNext() {
    guard !isSending, !waiting.isEmpty else { return }
    isSending = true
    let next = waiting.removeFirst()
    lastTransaction += 1
    let transaction = ByteString(transactions + String(lastTransaction))
    let path = Endpoint.sendMessage.path(next.room.text, next.type.text, transaction)
    server.ask(.put, path, next.content) { [self] answer in
      isSending = false
      if case .failed = answer { handle(.sendFailed(next.call)) }
      sendNext()
    }
  }

  // MARK: What is shown

  private func changed(_ handle: CallHandle) {
    guard let call = calls.call(handle) else { return }
    if case .ended(let why) = call.state { return ended(call, why) }
    ring()
    guard call.state != .announced, call.rings || call.state != .ringing else { return }
    if panel == nil, call.state == .ringing { learnServers {} }
    if panel == nil { panel = DirectCallPanel(self, call.handle, in: place) }
    if panel?.call == handle { panel?.show(call, media) }
  }

  private func ended(_ call: MatrixCall, _ why: MatrixCallEnd) {
    ring()
    guard panel?.call == call.handle, why != .replaced else { return }
    panel?.close()
    panel = nil
    if let words = words(for: why, call) { desk.tell(words.text, isTrouble: words.isTrouble) }
    // Another one that waits behind it.
    if let next = calls.calls.first(where: { $0.state == .ringing && $0.rings }) { changed(next.handle) }
  }

  /// The other end's name, as the room has it.
  func name(_ call: MatrixCall) -> String {
    let room = desk.room(call.room)
    guard let user = call.opponent ?? call.invitee else { return room?.name ?? call.room.string }
    return room?.person(user.text)?.name ?? user.string
  }

  private func words(for why: MatrixCallEnd, _ call: MatrixCall) -> (text: String, isTrouble: Bool)? {
    switch why {
    case .hungUp, .rejectedElsewhere, .replaced, .left: nil
    case .hungUpByOther(let reason):
      reason == "user_busy"
        ? (Word.callBusy.text(name(call)), false)
        : reason == "invite_timeout" && !call.isOutgoing ? nil : (Word.callOver.text, false)
    case .rejected: call.isOutgoing ? (Word.callDeclined.text(name(call)), false) : nil
    case .answeredElsewhere: (Word.callElsewhere.text, false)
    case .unanswered: call.isOutgoing ? (Word.callUnanswered.text(name(call)), false) : nil
    case .connectionFailed: (Word.callBroken.text, true)
    case .mediaFailed: (Word.callNoMedia.text, true)
    case .sendFailed: (Word.callNotSent.text, true)
    }
  }

  /// Rings as long as anything does.
  private func ring() {
    let rings = calls.calls.contains { $0.state == .ringing && $0.rings }
    if !rings {
      bell?.cancel()
      bell = nil
    } else if bell == nil {
      sound()
    }
  }

  private func sound() {
    Host.playSound()
    bell = Host.after(milliseconds: Self.ringMilliseconds) { [self] in sound() }
  }
}
