import JSON
import Messenger
import WebHost

/// The messenger inside `<martlet-messenger>`: the embedding page asks for rows, and what a person does goes out as events.
/// `Web/martlet-messenger.js` has the other half.
final class ElementFrame {
  let dom = BatchDOM()
  private var port: FramePort?
  private(set) var view: MessengerView<BatchDOM>?
  private var typing: [(number: Int64, handle: TypingHandle)] = []
  private var senders: [Sender] = []
  /// A text that waits for the page's yes or no, as it stands in the box.
  private var asked: (token: Int64, text: String) = (0, "")

  /// People whose data is shared by their rows.
  private static let sendersLimit = 500

  init() {
    port = FramePort { [self] in take($0) }
    tell("loaded") { _ in }
  }

  // MARK: Out

  func tell(_ event: StaticString, _ members: (inout JSONWriter) -> Void) { port?.tell(event, members) }

  private func answer(_ request: JSON) { port?.answer(request) }

  // MARK: In

  private func take(_ request: JSON) {
    guard let name = request.text("do") else { return }
    if name == "start" { start(request) }
    guard let view else { return answer(request) }
    let done = { [self] in answer(request) }
    switch name {
    case "add":
      view.add(rows(request), at: place(request), motion: request.bool("still") == true ? RowMotion.none : nil, then: done)
    case "update": update(request, done)
    case "replace":
      guard let row = row(request["row"]) else { return done() }
      view.replace(handle(request), with: row, then: done)
    case "remove": view.remove(request["ids"]?.elements.map { RowHandle(id($0)) } ?? [], then: done)
    case "clear": view.clear(then: done)
    case "scrollToEnd": view.scrollToEnd(then: done)
    case "scrollTo":
      view.scroll(to: handle(request), place: rowPlace(request), highlight: request.bool("highlight") ?? false, then: done)
    case "typing": typing(request, done)
    case "bubbles": view.setBubbles(BubbleConfiguration(named: request["name"]), then: done)
    case "endOlder": view.endOlder(rows(request), head(request), then: done)
    case "endNewer": view.endNewer(rows(request), tail(request), then: done)
    case "setTail": view.setTail(tail(request), then: done)
    case "enable":
      view.composer.setEnabled(request.bool("on") ?? true, request["note"]?.string)
      done()
    case "setText":
      view.composer.setText(request["text"]?.string ?? "")
      done()
    case "taken": taken(request)
    default: done()
    }
  }

  private func start(_ request: JSON) {
    guard view == nil else { return }
    let options = Host.timelineOptions()
    options.actions = ActionSet(rawValue: UInt32(clamping: request.integer("actions") ?? 0))
    let maximum = Int(clamping: max(1, request.integer("maximumLength") ?? 1000))
    let isReadOnly = request.bool("readOnly") ?? false
    let made = MessengerView(
      dom: dom, options: options, now: { Host.wallClockMilliseconds() },
      composer: isReadOnly ? nil : MessengerView<BatchDOM>.standardComposer(options.phrases, maximumLength: maximum))
    view = made
    dom.append(made.root, to: .root)
    dom.flush()
    made.onSubmit = { [self] text in submitted(text) }
    made.onAction = { [self] action in act(action) }
    made.onNeedNewer = { [self] in tell("neednewer") { _ in } }
    if request.bool("fetchesOlder") == true { made.onNeedOlder = { [self] in tell("needolder") { _ in } } }
    made.timeline.onVisible = { [self] rows in
      tell("visible") {
        $0.member("first", Int64(clamping: rows.first.rawValue))
        $0.member("last", Int64(clamping: rows.last.rawValue))
        $0.member("atEnd", rows.isAtEnd)
      }
    }
  }

  /// The text stays in the box until the page has said yes.
  private func submitted(_ text: String) -> Bool {
    asked = (asked.token + 1, view?.composer.text() ?? "")
    tell("send") {
      $0.member("text", text)
      $0.member("token", asked.token)
    }
    return false
  }

  private func taken(_ request: JSON) {
    defer { answer(request) }
    // What was written meanwhile stays.
    guard let view, request.integer("token") == asked.token, view.composer.text().hasSameBytes(as: asked.text) else { return }
    view.composer.setText("")
    view.composer.focus()
  }

  private func update(_ request: JSON, _ done: @escaping () -> Void) {
    guard let row = row(request["row"]), let view else { return done() }
    view.update(handle(request), row.content, then: done)
  }

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
