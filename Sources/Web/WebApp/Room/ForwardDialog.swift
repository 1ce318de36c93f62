import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// Sends messages on to rooms and people, found as by the box above the list. Several can be chosen; those that are stay on top.
final class ForwardDialog<D: DOM> {
  private static var targetsLimit: Int { 20 }

  private typealias Line = TargetFinder<D>.Line
  private typealias Target = TargetFinder<D>.Target

  private let app: App<D>
  private let dom: D
  private let frame: DialogFrame<D>
  private let list: Node
  private let trouble: Node
  private let submit: SubmitButton<D>
  private let targets: TargetFinder<D>
  /// Whether what is sent on was encrypted.
  private let isEncrypted: Bool
  private var chosen: [Line] = []
  private var listed: [Target] = []
  /// Messages that are still being sent on, and what went wrong with one.
  private var waiting = 0
  private var failure: ClientError?
  /// Chats without encryption that were to have a file of one with.
  private var unencrypted: [String] = []
  /// All have them.
  var onDone: () -> Void = {}

  @discardableResult
  init(_ conversation: Conversation<D>, _ items: [TimelineItem], in frame: DialogFrame<D>) {
    let app = conversation.app
    self.app = app
    dom = app.dom
    self.frame = frame
    let origin = conversation.feed.key?.room
    isEncrypted = origin.flatMap { app.client.room($0) }?.isEncrypted ?? false
    frame.setTitle(.forwardTo, look: "ma-switcher")
    let form = dom.element("form", "ma-form", in: frame.body)
    let field = dom.finder(.roomOrPerson, in: form)
    list = dom.element("div", "ma-targets", in: form)
    dom.setAttribute(list, "role", "group")
    dom.setLabel(list, .forwardTo)
    trouble = frame.trouble(in: form)
    submit = SubmitButton(dom, .forwardNow, busy: .forwarding, in: dom.element("div", "ma-buttons", in: form))
    targets = TargetFinder(app, hasSpaces: false)
    frame.setFirst(field)
    frame.onEnd = { [targets] in targets.close() }
    targets.onMore = { [self] in showMore() }
    dom.on(field, .input) { [self] in show($0.text.trimmed) }
    dom.on(form, .submit) { [self] _ in
      guard !submit.isBusy else { return }
      guard !chosen.isEmpty else { return dom.setText(trouble, .nothingChosen) }
      submit.setBusy(true)
      dom.setText(trouble, "")
      prepare(items[...], in: origin, [])
      dom.flush()
    }
    show("")
  }

  // MARK: What fits

  private func show(_ words: String) {
    dom.releaseChildren(of: list)
    listed = []
    for line in chosen { add(line) }
    targets.type(words)
    showMore()
    dom.flush()
  }

  /// Those who are there stay where they are.
  private func showMore() {
    for line in targets.lines where !listed.contains(line.target) {
      if case .room(let id) = line.target, !(app.client.room(id).map { app.canWrite(in: $0) } ?? false) { continue }
      add(line)
    }
  }

  private func add(_ target: Line) {
    listed.append(target.target)
    let line = dom.element("label", "ma-target", in: list)
    let check = dom.element("input", in: line)
    dom.setAttribute(check, "type", "checkbox")
    if chosen.contains(where: { $0.target == target.target }) { dom.setFlag(check, "checked", true) }
    dom.fill(line, id: target.id, target.name, target.detail, source: app.avatarSource(target.avatar))
    dom.on(check, .change) { [self] event in
      chosen.removeAll { $0.target == target.target }
      if event.x == 1, chosen.count < Self.targetsLimit { chosen.append(target) }
      dom.setText(trouble, "")
    }
  }

  // MARK: Sending on

  /// Makes one message after another; what is not a text is asked for as the event it is.
  private func prepare(_ rest: ArraySlice<TimelineItem>, in room: RoomID?, _ made: [OutgoingMessage]) {
    guard let item = rest.first else { return send(made) }
    let name = room.flatMap { app.client.room($0) }?.displayName(of: item.sender)
    let origin = MessageContent.Origin(sender: item.sender, name: name)
    if case .message(let message) = item.content, let text = OutgoingMessage.forwarding(message, from: origin) {
      return prepare(rest.dropFirst(), in: room, made + [text])
    }
    guard let room, let event = item.eventID else { return prepare(rest.dropFirst(), in: room, made) }
    app.ask(.timeline(.loadEvent(room, event))) { [self] result in
      guard frame.isOpen else { return }
      switch result {
      case .event(let source):
        let message = source.json.flatMap { OutgoingMessage.forwarding($0, from: origin) }
        prepare(rest.dropFirst(), in: room, made + (message.map { [$0] } ?? []))
      case .failed(let error): failed(error)
      default: submit.setBusy(false)
      }
    }
  }

  private func send(_ messages: [OutgoingMessage]) {
    let open = chosen.filter { isOpen($0.target) }
    // A file does not leave its encryption: that is said at the end.
    guard isEncrypted, !open.isEmpty, messages.contains(where: { !$0.namesFileKeys }) else { return sendAll(messages) }
    submit.setBusy(false)
    app.dialogs.open {
      _ = ConfirmDialog(
        Strings[.forwardToOpen, Strings.list(open.map { $0.name })], action: .forwardAnyway, busy: .forwarding, in: $0,
        run: { ended in ended(nil) }
      ) { [self] in
        submit.setBusy(true)
        sendAll(messages)
      }
    }
  }

  /// Whether the messages can be read there by the people who run the server.
  private func isOpen(_ target: Target) -> Bool {
    switch target {
    case .room(let room): !(app.client.room(room)?.isEncrypted ?? false)
    case .person: !(app.client.encryptsNewChats && app.wishes?.privateRooms ?? false)
    }
  }

  private func sendAll(_ messages: [OutgoingMessage]) {
    waiting = chosen.count
    failure = nil
    unencrypted = []
    for target in chosen.map({ $0.target }) {
      switch target {
      case .room(let room): send(messages, to: room, target)
      case .person(let user):
        app.ask(.rooms(.openDirectChat(with: user.text))) { [self] result in
          switch result {
          case .room(let room): send(messages, to: room, target)
          case .failed(let error): ended(target, error)
          default: ended(target, nil)
          }
        }
      }
    }
  }

  /// The outbox keeps what is in it, also without a network.
  private func send(_ messages: [OutgoingMessage], to room: RoomID, _ target: Target) {
    // The keys of the file would be told to everybody.
    if let state = app.client.room(room), !state.isEncrypted, messages.contains(where: { $0.namesFileKeys }) {
      unencrypted.append(Strings.words(for: state.name))
      return ended(target, .invalidContent)
    }
    let draft = app.client.room(room)?.draft(in: nil)
    for message in messages { app.askOrSay(.sending(.send(room, message))) }
    if let draft { app.ask(.sending(.setDraft(room, draft))) }
    ended(target, nil)
  }

  /// Who has the messages is not sent them again by another try.
  private func ended(_ target: Target, _ error: ClientError?) {
    failure = failure ?? error
    if error == nil { chosen.removeAll { $0.target == target } }
    waiting -= 1
    guard waiting == 0 else { return }
    if let failure {
      show("")
      return failed(failure)
    }
    frame.close()
    onDone()
    app.notices.show(.forwarded)
  }

  private func failed(_ error: ClientError) {
    guard frame.isOpen else { return }
    submit.setBusy(false)
    let words = unencrypted.isEmpty ? Strings.words(for: error) : Strings[.fileNeedsEncryption, Strings.list(unencrypted)]
    dom.setText(trouble, words)
    dom.flush()
  }
}
