import JSON
import Messenger
import WebHost

/// The messenger inside `<martlet-messenger>`: the embedding page asks for rows, and what a person does goes out as events.
/// `Web/martlet-messenger.js` has the other half.
final class ElementFrame {
  let dom = BatchDOM()
  private var port: FramePort?
  private(set) var view: MessengerView<BatchDOM>?
  /// The view is that of a text chat.
  var chat: TextChat<BatchDOM>?
  var sound: RowSound<BatchDOM>?
  private(set) lazy var drawings = DrawingDesk(dom, port) { [self] in view?.timeline.row($0) }
  private var typing: [(number: Int64, handle: TypingHandle)] = []
  private var senders: [Sender] = []
  /// A text that waits for the page's yes or no, as it stands in the box.
  var asked: (token: Int64, text: String) = (0, "")
  /// The page has said yes to what is sent now.
  var granted = false

  /// People whose data is shared by their rows.
  private static let sendersLimit = 500

  init() {
    port = FramePort { [self] in take($0) }
    tell("loaded") { _ in }
  }

  // MARK: Out

  func tell(_ event: StaticString, _ members: (inout JSONWriter) -> Void) { port?.tell(event, members) }

  func answer(_ request: JSON, _ members: (inout JSONWriter) -> Void = { _ in }) { port?.answer(request, members) }

  func refuse(_ request: JSON, _ words: StaticString) {
    answer(request) { $0.member("error", ByteString(stringLiteral: words)) }
  }

  // MARK: In

  private func take(_ request: JSON) {
    guard let name = request.text("do") else { return }
    if name == "start" { start(request) }
    guard let view else { return answer(request) }
    if change(name, request, view) || converse(name, request) { return }
    let done = { [self] in answer(request) }
    switch name {
    case "transaction": transaction(request, view)
    case "group": tellGroup(request, view)
    case "scrollToEnd": view.scrollToEnd(then: done)
    case "scrollTo":
      view.scroll(to: handle(request), place: rowPlace(request), highlight: request.bool("highlight") ?? false, then: done)
    case "typing": typing(request, done)
    case "bubbles": view.setBubbles(BubbleConfiguration(named: request["name"]), then: done)
    case "endOlder":
      if let rows = rows(request) { view.endOlder(rows, head(request), then: done) } else { refuseRow(request) }
    case "endNewer":
      if let rows = rows(request) { view.endNewer(rows, tail(request), then: done) } else { refuseRow(request) }
    case "setTail": view.setTail(tail(request), then: done)
    case "setText":
      view.composer.setText(request["text"]?.string ?? "")
      done()
    case "register":
      if let kind = request["kind"]?.string { view.timeline.register(content: kind, drawings.renderer(of: kind)) }
      done()
    case "drawn": drawings.take(request)
    default: done()
    }
  }

  /// What may be a step of a transaction. False for other requests.
  private func change(_ name: ByteString, _ request: JSON, _ view: MessengerView<BatchDOM>) -> Bool {
    let done = { [self] in answer(request) }
    switch name {
    case "add":
      let motion = request.bool("still") == true ? RowMotion.none : nil
      if let rows = rows(request) { view.add(rows, at: place(request), motion: motion, then: done) } else { refuseRow(request) }
    case "update":
      if let row = row(request["row"]) { view.update(handle(request), row.content, then: done) } else { refuseRow(request) }
    case "replace":
      if let row = row(request["row"]) { view.replace(handle(request), with: row, then: done) } else { refuseRow(request) }
    case "clear": view.clear(then: done)
    case "remove": view.remove(request["ids"]?.elements.map { RowHandle(id($0)) } ?? [], then: done)
    case "addToGroup":
      if let row = row(request["row"]) { view.add(row, toGroupOf: handle(request), then: done) } else { refuseRow(request) }
    case "removeFromGroup": view.removeFromGroup(handle(request), then: done)
    default: return false
    }
    return true
  }

  private func refuseRow(_ request: JSON) { refuse(request, "A row has a sender with an id and a name, or it is a line.") }

  private func transaction(_ request: JSON, _ view: MessengerView<BatchDOM>) {
    let steps: (MessengerView<BatchDOM>) -> Void = { [self] view in
      guard let list = request["steps"] else { return }
      for step in list.elements {
        if let name = step.text("do"), !change(name, step, view) { answer(step) }
      }
    }
    view.transaction(transactionMode(request), steps) { [self] in answer(request) }
  }

  private func tellGroup(_ request: JSON, _ view: MessengerView<BatchDOM>) {
    answer(request) {
      $0.key("value")
      $0.beginArray()
      for row in view.group(of: handle(request)) { $0.write(Int64(clamping: row.id.rawValue)) }
      $0.endArray()
    }
  }

  // MARK: Starting

  private func start(_ request: JSON) {
    guard view == nil else { return }
    let options = Host.timelineOptions()
    options.actions = ActionSet(rawValue: UInt32(clamping: request.integer("actions") ?? 0)).union(.play)
    if request.bool("newestFirst") == true { options.policy.insert(.newestFirst) }
    if request.bool("answersBeneath") == true { options.policy.insert(.answersBeneath) }
    if let place = avatarPlace(request) { options.avatars = place }
    let made = makeChat(request, options) ?? makeView(request, options)
    view = made
    dom.append(chat?.root ?? made.root, to: .root)
    dom.flush()
    sound = RowSound(made.timeline) { [self] in
      tell("error") {
        $0.member("message", "The sound cannot be played.")
        $0.member("isFinal", false)
      }
    }
    made.onAction = { [self] action in act(action) }
    made.rowsLimit = request.integer("rowsLimit").map { Int(clamping: max(1, $0)) }
    if request.bool("fetchesOlder") == true { made.onNeedOlder = { [self] in need("needolder", "before", view?.oldest) } }
    made.onNeedNewer = { [self] in need("neednewer", "after", view?.newest) }
    made.timeline.onVisible = { [self] rows in
      tell("visible") {
        $0.member("first", Int64(clamping: rows.first.rawValue))
        $0.member("last", Int64(clamping: rows.last.rawValue))
        $0.member("atEnd", rows.isAtEnd)
      }
    }
  }

  private func makeView(_ request: JSON, _ options: TimelineOptions) -> MessengerView<BatchDOM> {
    let composer =
      request.bool("readOnly") == true
      ? nil
      : MessengerView<BatchDOM>.standardComposer(
        options.phrases, maximumLength: maximumLength(request))
    let view = MessengerView(dom: dom, options: options, now: { Host.wallClockMilliseconds() }, composer: composer)
    view.onSubmit = { [self] text in
      ask(about: text) { _ in }
      return false
    }
    return view
  }

  /// Rows are wanted, from the one on that stands at that end now.
  private func need(_ event: StaticString, _ name: StaticString, _ end: RowHandle?) {
    tell(event) { if let end { $0.member(name, Int64(clamping: end.id.rawValue)) } }
  }

  // MARK: Typing, people

  private func typing(_ request: JSON, _ done: @escaping () -> Void) {
    guard let view, let number = request.integer("id") else { return done() }
    if let sender = sender(request["sender"]) {
      typing.append((number, view.addTyping(sender, then: done)))
    } else if let index = typing.firstIndex(where: { $0.number == number }) {
      view.removeTyping(typing.remove(at: index).handle, then: done)
    } else {
      done()
    }
  }

  /// Rows of one person share one object.
  func sender(_ value: JSON?) -> Sender? {
    guard let id = value?["id"]?.string, let name = value?["name"]?.string else { return nil }
    let isOwn = value?.bool("own") ?? false
    let avatar = value?["avatar"]?.string
    for known in senders where known.id.hasSameBytes(as: id) && known.name.hasSameBytes(as: name) && known.isOwn == isOwn {
      if (known.avatar ?? "").hasSameBytes(as: avatar ?? "") { return known }
    }
    let sender = Sender(id: id, name: name, avatar: avatar, isOwn: isOwn)
    if senders.count >= ElementFrame.sendersLimit { senders.removeFirst() }
    senders.append(sender)
    return sender
  }
}
