import ClientCore
import ClientHost
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// The program in a frame of `<martlet-messenger homeserver room>`: one room, and a page around it that asks for things and is told
/// what happens. `Web/martlet-messenger.js` has the other half.
final class Embedding<D: DOM> {
  private let app: App<D>
  /// The origin of that page, as the browser says it.
  let page: String
  /// The one conversation; nil where the page named none.
  let destination: Destination?
  private(set) var port: FramePort?
  /// Nothing is written there.
  let isReadOnly: Bool
  /// A person's reaction to a message takes the place of their earlier one.
  let hasOneReaction: Bool
  /// Beside each message stands how many members have not read it.
  let showsUnreadNumbers: Bool
  /// Names of commands that the page has beside the client's, as they stand behind a slash, in small letters.
  let commands: [String]
  private(set) var bubbles: BubbleConfiguration
  private let joinsAsGuest: Bool
  private var room: RoomID?
  private var state = SessionState.loading
  private var sends: [(send: SendID, request: JSON)] = []
  /// What the page was asked last, and what takes its answer.
  private var asked: (token: Int64, answered: (JSON) -> Void) = (0, { _ in })
  /// Messages of the page's own kinds.
  private(set) lazy var drawings = DrawingDesk(app.dom, port) { [self] row in
    for feed in feeds { if let known = feed.timeline.row(row) { return known } }
    return nil
  } event: { [self] row in
    for feed in feeds { if let event = feed.item(row)?.eventID { return event.text } }
    return nil
  }
  private var feeds: [Feed<D>] { app.main?.room?.feeds ?? [] }

  /// - Parameter wishes: `page`, `homeserver`, `room` (ID, alias or link), `guest`, `readonly`, `bubbles`, `oneReaction`, `unreadNumbers`,
  ///   `commands` (separated by spaces).
  init(_ app: App<D>, _ wishes: JSON) {
    self.app = app
    page = wishes["page"]?.string ?? ""
    let address = wishes.text("room") ?? ""
    let link = Permalink(address) ?? Permalink.Target(address).map { Permalink($0) }
    destination = link.map { Destination($0) }
    joinsAsGuest = wishes.bool("guest") ?? false
    isReadOnly = wishes.bool("readonly") ?? false
    hasOneReaction = wishes.bool("oneReaction") ?? false
    showsUnreadNumbers = wishes.bool("unreadNumbers") ?? false
    let named = Array((wishes["commands"]?.string ?? "").utf8).split(separator: 0x20)
    commands = named.map { String(decoding: $0, as: UTF8.self) }
    bubbles = BubbleConfiguration(named: wishes["bubbles"])
    if let server = Server.address(typed: wishes["homeserver"]?.string ?? "") { app.effects.server = server }
    port = FramePort { [self] in take($0) }
  }

  func start() {
    app.next = destination
    if destination == nil { fail(Strings[.roomAddressWrong]) }
    app.effects.server.discover { [app] server in
      app.effects.server = server
      app.effects.open { app.begin() }
    }
  }

  /// What keeps the conversation from being shown at all.
  func fail(_ words: String) {
    port?.tell("error") {
      $0.member("message", words)
      $0.member("isFinal", true)
    }
  }

  /// The first room is the only one; the page hears of others.
  func allowed(_ place: Place) -> Place {
    guard let wanted = place.room else { return app.place }
    room = room ?? wanted
    if wanted == room { return place }
    port?.tell("openroom") { $0.member("room", wanted.text) }
    return app.place
  }

  // MARK: Out

  func heard(_ change: Change) {
    switch change {
    case .session: sessionChanged()
    case .connection: connectionChanged()
    case .arrived(let id, let events) where id == room: for event in events { arrived(event, id) }
    case .receipts(let id, let reports) where id == room: for report in reports { tell(report) }
    case .room(let id, let aspects) where id == room: if let room = app.client.room(id) { changed(room, aspects) }
    case .sending(_, let id, let progress): moved(id, progress)
    default: break
    }
  }

  private func sessionChanged() {
    let old = state
    let new = app.client.sessionState
    guard new != old, new != .loading, new != .signingIn else { return }
    state = new
    if old == .loading { port?.tell("loaded") }
    guard let session = app.client.session, new == .signedIn else {
      port?.tell("signedout")
      if joinsAsGuest, old == .loading { app.askOrSay(.session(.registerGuest)) }
      return
    }
    port?.tell("signedin") {
      $0.member("userID", session.userID.text)
      $0.member("deviceID", session.deviceID.text)
    }
  }

  private func connectionChanged() {
    let isUp: Bool
    switch app.client.connection {
    case .running: isUp = true
    case .reconnecting, .offline: isUp = false
    default: return
    }
    port?.tell("connection") { $0.member("up", isUp) }
  }

  private func changed(_ room: Room, _ aspects: RoomAspects) {
    if aspects.contains(.unread) { port?.tell("unread") { $0.member("count", room.notificationCount) } }
    guard aspects.contains(.typing) else { return }
    port?.tell("typing") {
      $0.key("users")
      $0.beginArray()
      for user in room.typing { $0.write(user.text) }
      $0.endArray()
    }
  }

  private func tell(_ report: ReceiptReport) {
    port?.tell("receipt") {
      $0.member("userID", report.user.text)
      $0.member("of", report.event.text)
      $0.member("kind", Int(report.kind.rawValue))
    }
  }

  private func arrived(_ event: Event, _ id: RoomID) {
    guard let sender = event.sender else { return }
    port?.tell("message") {
      $0.member("id", event.eventID?.text ?? "")
      $0.member("type", event.type.text)
      $0.member("sender", sender.text)
      $0.member("name", app.client.room(id)?.displayName(of: sender) ?? sender.text)
      $0.member("own", sender == app.userID)
      $0.member("time", event.originServerTimestamp ?? 0)
      $0.member("content", event.content)
      guard let key = event.stateKey else { return }
      $0.member("stateKey", key)
      if let before = event.unsigned?["prev_content"] { $0.member("before", before) }
    }
  }

  private func moved(_ id: SendID, _ progress: SendProgress) {
    switch progress {
    case .sent(let event):
      port?.tell("sent") { $0.member("id", event.text) }
      if let request = asked(id) { port?.answer(request) { $0.member("value", event.text) } }
    case .failed(let error):
      port?.tell("unsent") { $0.member("message", Strings.words(for: error)) }
      if let request = asked(id) { refuse(request, error) }
    case .cancelled: if let request = asked(id) { refuse(request, .cancelled) }
    case .waiting, .uploading, .sending: break
    }
  }

  /// What the page asked for that has come to its end.
  private func asked(_ id: SendID) -> JSON? {
    sends.firstIndex { $0.send == id }.map { sends.remove(at: $0).request }
  }

  /// The page may refuse a text, or change it, before it is sent. Where it has rules besides Markdown, it is asked what these make of
  /// the HTML; what it says is looked through like anybody's.
  func ask(
    about text: String, hasRules: Bool, _ format: @escaping (String) -> FormattedText,
    then send: @escaping (FormattedText) -> Void
  ) {
    ask("send", ByteString(text), nil) { [self] answer in
      guard let text = answer["text"]?.string, !text.utf8.isEmpty else { return }
      let formatted = format(text)
      guard hasRules, answer.bool("hasRules") ?? false else { return send(formatted) }
      ask("format", formatted.body, formatted.html) { answer in
        send(answer.text("html").map { .html($0, body: formatted.body, mentions: formatted.mentions) } ?? formatted)
      }
    }
  }

  private func ask(_ question: StaticString, _ text: ByteString, _ html: ByteString?, then answered: @escaping (JSON) -> Void) {
    asked = (asked.token + 1, answered)
    port?.tell(question) {
      $0.member("text", text)
      if let html { $0.member("html", html) }
      $0.member("token", asked.token)
    }
  }

  /// What the page draws of a message of that `msgtype`, or of an event of that type; nil where it does not.
  func drawn(_ kind: String, _ content: [UInt8], spoken: String) -> CustomContent? {
    guard !content.isEmpty, drawings.draws(kind) else { return nil }
    return CustomContent(kind: kind, payload: String(decoding: content, as: UTF8.self), spoken: spoken)
  }

  /// What is written behind a command of the page's own, which does what that asks for. Whether it has that command.
  func run(_ command: String, _ rest: String) -> Bool {
    guard commands.contains(where: { $0.hasSameBytes(as: command) }) else { return false }
    port?.tell("command") {
      $0.member("name", command)
      $0.member("text", rest)
    }
    return true
  }

  private func refuse(_ request: JSON, _ error: ClientError) {
    port?.answer(request) { $0.member("error", Strings.words(for: error)) }
  }

  // MARK: In

  func take(_ request: JSON) {
    guard let name = request.text("do") else { return }
    let screen = app.main?.room
    switch name {
    case "signIn": signIn(request)
    case "signOut": ask(.session(.logOut), request)
    case "join": if let room { ask(app.joining(room), request) } else { refuse(request, .unknownRoom) }
    case "send": send(request)
    case "taken": done(request) { if request.integer("token") == asked.token { taken(request) } }
    case "register": done(request) { if let kind = request["kind"]?.string { register(kind) } }
    case "drawn": drawings.take(request)
    case "bubbles": done(request) { setBubbles(BubbleConfiguration(named: request["name"])) }
    case "setText": done(request) { screen?.conversation.writer.composer.setText(request["text"]?.string ?? "") }
    case "scrollToEnd": done(request) { screen?.showLatest() }
    case "scrollTo":
      guard let event = EventID(request["event"]), let screen else { return refuse(request, .unknownEvent) }
      done(request) { screen.go(to: event) }
    default: refuse(request, .notAllowed)
    }
  }

  private func taken(_ answer: JSON) {
    let answered = asked.answered
    asked.token += 1
    answered(answer)
  }

  private func register(_ kind: String) {
    drawings.register(kind)
    app.main?.room?.register(kind, drawings.renderer(of: kind))
  }

  private func setBubbles(_ bubbles: BubbleConfiguration) {
    self.bubbles = bubbles
    app.main?.room?.conversation.feed.timeline.setBubbles(bubbles)
    app.main?.room?.panel.conversation?.feed.timeline.setBubbles(bubbles)
  }

  private func done(_ request: JSON, _ run: () -> Void) {
    run()
    app.dom.flush()
    port?.answer(request)
  }

  private func ask(_ command: Command, _ request: JSON) {
    app.ask(command) { [self] result in
      switch result {
      case .queued(let send): sends.append((send, request))
      case .failed(let error): refuse(request, error)
      default: port?.answer(request)
      }
    }
  }

  private func signIn(_ request: JSON) {
    // From a sign-on in a window of its own; the person who waits here hears of it.
    if let token = request.text("loginToken") { return app.askOrSay(.session(.logIn(.token(token)))) }
    if let token = request.text("jwt") { return ask(.session(.logIn(.jwt(token))), request) }
    guard let user = UserID(request["userID"]), let device = DeviceID(request["deviceID"]),
      let token = request.text("accessToken")
    else { return refuse(request, .invalidContent) }
    ask(.session(.restore(Session(userID: user, deviceID: device, accessToken: token))), request)
  }

  private func send(_ request: JSON) {
    guard let room, app.main != nil else { return refuse(request, .notSignedIn) }
    if let type = EventType(request["type"]), let content = request["content"], content.isObject {
      return ask(.sending(.send(room, .custom(type, content: Array(content.bytes)))), request)
    }
    ask(.sending(.send(room, .message(FormattedText(request.text("text") ?? "")))), request)
  }
}
