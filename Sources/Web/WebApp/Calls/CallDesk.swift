import CallCore
import ClientCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// The calls of the account: between the state machine (`MatrixCalls`), the server, the browser's media and what is shown of it.
final class CallDesk<D: DOM> {
  /// Between two rings.
  private static var ringMilliseconds: Double { 2_500 }

  private let app: App<D>
  /// Where a call is shown.
  private let place: Node
  private var calls: MatrixCalls
  private var port: MediaPort?
  private var panel: CallPanel<D>?
  private var timer: HostTask?
  private var bell: HostTask?
  private var hasNews = false
  private var waiting: [Outgoing] = []
  private var isSending = false
  private var lastTransaction = 0
  private let transactions: String

  private struct Outgoing {
    let call: CallHandle
    let room: RoomID
    let type: EventType
    let content: [UInt8]
  }

  init(_ app: App<D>, user: UserID, in place: Node) {
    self.app = app
    self.place = place
    var seed: UInt64 = 0
    for byte in Host.randomBytes(8) { seed = seed << 8 | UInt64(byte) }
    calls = MatrixCalls(user: user, randomSeed: seed)
    transactions = "call" + String(seed, radix: 36) + "."
  }

  func close() {
    for call in calls.calls { handle(.command(call.state == .ringing ? .silence(call.handle) : .hangUp(call.handle))) }
    timer?.cancel()
    bell?.cancel()
    panel?.close()
    port = nil
  }

  // MARK: From the client

  func arrived(_ room: RoomID, _ events: [Event]) {
    let regard: MatrixCallEvent.Sender = app.client.room(room)?.joinRule == .public ? .stranger : .known
    for event in events where event.type.isOfCall {
      guard let sender = event.sender else { continue }
      let age = event.unsigned?["age"]?.integer ?? Host.wallClockMilliseconds() - (event.originServerTimestamp ?? 0)
      hasNews = true
      handle(
        .event(
          MatrixCallEvent(
            room: room, sender: sender, type: event.type, content: Array(event.content.bytes), ageMilliseconds: age,
            regard: regard)))
    }
  }

  /// A sync is through.
  func settle() {
    guard hasNews else { return }
    hasNews = false
    handle(.synced)
  }

  func left(_ room: RoomID) {
    if let user = app.userID { handle(.left(room, user)) }
  }

  // MARK: From the person

  var isBusy: Bool { calls.calls.contains { $0.isAnswered || $0.isOutgoing } }

  func place(_ room: RoomID, withCamera: Bool) {
    guard !isBusy else { return }
    learnServers { [self] in
      let invitee = app.client.room(room)?.directUserID
      handle(.command(.place(room, invitee: invitee, audio: true, video: withCamera)))
    }
  }

  /// Who relays where the two cannot reach each other; what is known of it does not last.
  private func learnServers(_ then: @escaping () -> Void) {
    app.ask(Call<TURNServer>.turnServer()) { [self] answer in
      if case .success(let server) = answer, !server.urls.isEmpty {
        handle(.iceServers([ICEServer(urls: server.urls, username: server.username, credential: server.password)]))
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
    app.dom.flush()
  }

  private var media: MediaPort {
    if let port { return port }
    let port = MediaPort { [self] json in if let input = MediaInput(json) { handle(.media(input)) } }
    self.port = port
    return port
  }

  private func wake(at time: Int64?) {
    timer?.cancel()
    timer = time.map { time in
      Host.after(milliseconds: Double(time) - Host.monotonicMilliseconds()) { [self] in handle(.time) }
    }
  }

  /// One after the other: the other side takes them in this order.
  private func sendNext() {
    guard !isSending, !waiting.isEmpty else { return }
    isSending = true
    let next = waiting.removeFirst()
    lastTransaction += 1
    let transaction = ByteString(transactions + String(lastTransaction))
    app.ask(Call<EventID>.sendNow(next.type, next.content, to: next.room, transaction: transaction)) { [self] answer in
      isSending = false
      if case .failure = answer { handle(.sendFailed(next.call)) }
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
    if panel == nil { panel = CallPanel(app, self, call.handle, in: place) }
    if panel?.call == handle { panel?.show(call, media) }
  }

  private func ended(_ call: MatrixCall, _ why: MatrixCallEnd) {
    ring()
    guard panel?.call == call.handle, why != .replaced else { return }
    panel?.close()
    panel = nil
    if let words = words(for: why, call) { app.notices.show(words.text, isTrouble: words.isTrouble) }
    // Another one that waits behind it.
    if let next = calls.calls.first(where: { $0.state == .ringing && $0.rings }) { changed(next.handle) }
  }

  /// The other end's name, as the room has it.
  func name(_ call: MatrixCall) -> String {
    guard let room = app.client.room(call.room) else { return call.room.string }
    if let user = call.opponent ?? call.invitee { return room.displayName(of: user).string }
    return Strings.words(for: room.name)
  }

  private func words(for why: MatrixCallEnd, _ call: MatrixCall) -> (text: String, isTrouble: Bool)? {
    switch why {
    case .hungUp, .rejectedElsewhere, .replaced, .left: nil
    case .hungUpByOther(let reason):
      reason == "user_busy"
        ? (Strings[.callBusy, name(call)], false)
        : reason == "invite_timeout" && !call.isOutgoing ? nil : (Strings[.callOver], false)
    case .rejected: call.isOutgoing ? (Strings[.callDeclined, name(call)], false) : nil
    case .answeredElsewhere: (Strings[.callElsewhere], false)
    case .unanswered: call.isOutgoing ? (Strings[.callUnanswered, name(call)], false) : nil
    case .connectionFailed: (Strings[.callBroken], true)
    case .mediaFailed: (Strings[.callNoMedia], true)
    case .sendFailed: (Strings[.callNotSent], true)
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
