import CallCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// Calls between two: the state machine (`MatrixCalls`) among the server, the browser's media and what is shown of it.
final class DirectCalls<D: DOM> {
  /// Between two rings.
  private static var ringMilliseconds: Double { 2_500 }
  private static var panelsLimit: Int { 2 }

  let desk: CallDesk<D>
  private let server: Server
  private let user: UserID
  /// Where a call is shown.
  private let place: Node
  private var calls: MatrixCalls
  private var port: MediaPort?
  /// The call that one is in, and one that rings beside it; or two that ring.
  private var panels: [DirectCallPanel<D>] = []
  /// Of this machine, as they were last told.
  private(set) var devices: [CallDevice] = []
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
    for panel in panels { panel.close() }
    panels = []
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

  var isBusy: Bool { room != nil }

  /// Of the call that one takes part in.
  var room: RoomID? { calls.calls.first { $0.isOwn }?.room }

  /// Whether anybody is seen in it.
  var showsPictures: Bool { panels.contains { $0.showsPictures } }

  /// Whether the user is in a direct or a group call.
  var isInAnyCall: Bool { isBusy || desk.group?.ongoing != nil }

  /// Calls `invitee`. Does nothing if the user is already in a call of that room.
  func place(_ room: RoomID, _ invitee: UserID, _ setup: CallSetup) {
    guard !calls.calls.contains(where: { $0.isOwn && $0.room == room }) else { return }
    leaveOthers()
    learnServers { [self] in
      guard !isClosed else { return }
      media.prefer(.kept)
      handle(.command(.place(room, invitee: invitee, audio: true, video: setup.hasCamera)))
      if setup.isMuted, let call = calls.calls.first(where: { $0.isOwn && $0.room == room }) { mute(call.handle) }
    }
  }

  /// Nothing where it does not ring any more.
  func answer(_ call: CallHandle, _ setup: CallSetup) {
    guard calls.call(call)?.state == .ringing else { return }
    leaveOthers()
    media.prefer(.kept)
    handle(.command(.answer(call, audio: true, video: setup.hasCamera)))
    if setup.isMuted { mute(call) }
  }

  private func mute(_ call: CallHandle) { handle(.command(.mute(call, audio: true, video: nil))) }

  /// Declines a call. If the user is in another call, the caller is told that they are busy.
  func decline(_ call: CallHandle) {
    handle(.command(isInAnyCall ? .busy(call) : .reject(call)))
  }

  /// Ends the current call: a user is in one call at a time.
  private func leaveOthers() {
    hangUp()
    desk.group?.close()
  }

  /// Ends the call that the user is in or is making. A ringing call keeps ringing.
  func hangUp() {
    for call in calls.calls where call.isOwn { handle(.command(.hangUp(call.handle))) }
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

  func listDevices() { media.listDevices() }

  func float(_ stream: String) { media.float(stream) }

  func turnCamera(of source: SourceID) { media.turnCamera(of: source) }

  func use(_ device: CallDevice, for source: SourceID) { media.use(device, for: source) }

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
      case .replaced(let old, let new): panel(of: old)?.call = new
      }
    }
    desk.dom.flush()
  }

  private var media: MediaPort {
    if let port { return port }
    let port = MediaPort { [self] json in
      if let input = MediaInput(json) { return handle(.media(input)) }
      for panel in panels { panel.heard(json) }
      guard let listed = CallDevice.list(json) else { return }
      devices = listed
      show()
      desk.dom.flush()
    }
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
    if case .ended(let why) = call.state { ended(call, why) } else { open(call) }
    if call.state != .ringing, !call.isOutgoing { desk.stoppedRinging(handle) }
    ring()
    show()
    desk.callsChanged()
  }

  private func panel(of call: CallHandle) -> DirectCallPanel<D>? { panels.first { $0.call == call } }

  private func open(_ call: MatrixCall) {
    guard call.state != .announced, call.rings || call.state != .ringing, panel(of: call.handle) == nil,
      panels.count < Self.panelsLimit
    else { return }
    if call.state == .ringing { learnServers {} }
    panels.append(DirectCallPanel(self, call.handle, in: place))
  }

  /// How a call is shown depends on whether there is another.
  func show() {
    for panel in panels { if let call = calls.call(panel.call) { panel.show(call, media) } }
  }

  private func ended(_ call: MatrixCall, _ why: MatrixCallEnd) {
    guard why != .replaced, let i = panels.firstIndex(where: { $0.call == call.handle }) else { return }
    panels.remove(at: i).close()
    if let words = words(for: why, call) { desk.tell(words.text, isTrouble: words.isTrouble) }
    // Another one that had no place.
    for next in calls.calls where next.state == .ringing { open(next) }
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
      switch reason {
      case "user_busy": (Word.callBusy.text(name(call)), false)
      case "ice_failed": (Word.callBroken.text, true)
      case "ice_timeout": (Word.callLost.text, true)
      case "invite_timeout" where !call.isOutgoing: nil
      default: (Word.callOver.text, false)
      }
    case .rejected: call.isOutgoing ? (Word.callDeclined.text(name(call)), false) : nil
    case .answeredElsewhere: (Word.callElsewhere.text, false)
    case .unanswered: call.isOutgoing ? (Word.callUnanswered.text(name(call)), false) : nil
    case .connectionFailed: (Word.callBroken.text, true)
    case .connectionLost: (Word.callLost.text, true)
    case .mediaFailed: (Word.callNoMedia.text, true)
    case .sendFailed: (Word.callNotSent.text, true)
    }
  }

  /// Rings as long as anything does; only once beside a call.
  private func ring() {
    let rings = calls.calls.contains { $0.state == .ringing && $0.rings }
    if !rings {
      bell?.cancel()
      bell = nil
    } else if bell == nil {
      Host.playSound()
      ringAgain()
    }
  }

  private func ringAgain() {
    bell = Host.after(milliseconds: Self.ringMilliseconds) { [self] in
      if !isInAnyCall { Host.playSound() }
      ringAgain()
    }
  }
}

extension MatrixCall {
  /// Whether one takes part in it: called, or answered.
  var isOwn: Bool { !isEnded && (isAnswered || isOutgoing) }
}
