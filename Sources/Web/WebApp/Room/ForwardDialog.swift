import ClientCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// Sends messages on to rooms and people, found as in the quick switcher. Several can be chosen; those that are stay on top.
final class ForwardDialog<D: DOM> {
  private static var list: RoomListID { 2 }
  private static var roomsLimit: Int { 12 }
  private static var peopleLimit: Int { 6 }
  private static var targetsLimit: Int { 20 }
  private static var pauseMilliseconds: Double { 200 }

  private struct Person {
    let userID: UserID
    let name: String
    let avatar: MediaURI?
  }

  private enum Target: Equatable {
    case room(RoomID)
    case user(Person)

    static func == (left: Target, right: Target) -> Bool {
      switch (left, right) {
      case (.room(let one), .room(let other)): one == other
      case (.user(let one), .user(let other)): one.userID == other.userID
      default: false
      }
    }
  }

  private let app: App<D>
  private let dom: D
  private let frame: DialogFrame<D>
  private let list: Node
  private let trouble: Node
  private let submit: SubmitButton<D>
  private var chosen: [Target] = []
  /// Those whose direct chat is in the list.
  private var known: [UserID] = []
  /// Counts what was typed: an answer to something else comes too late.
  private var version = 0
  /// Messages that are still being sent on, and what went wrong with one.
  private var waiting = 0
  private var failure: ClientError?
  /// All have them.
  var onDone: () -> Void = {}

  @discardableResult
  init(_ conversation: Conversation<D>, _ items: [TimelineItem], in frame: DialogFrame<D>) {
    app = conversation.app
    dom = app.dom
    self.frame = frame
    frame.setTitle(.forwardTo, look: "ma-switcher")
    let form = dom.element("form", "ma-form", in: frame.body)
    let field = dom.finder(.roomOrPerson, in: form)
    list = dom.element("div", "ma-targets", in: form)
    dom.setAttribute(list, "role", "group")
    dom.setLabel(list, .forwardTo)
    trouble = frame.trouble(in: form)
    submit = SubmitButton(dom, .forwardNow, busy: .forwarding, in: dom.element("div", "ma-buttons", in: form))
    frame.setFirst(field)
    dom.on(field, .input) { [self] in typed($0.text.trimmed) }
    dom.on(form, .submit) { [self] _ in
      guard !submit.isBusy else { return }
      guard !chosen.isEmpty else { return dom.setText(trouble, .nothingChosen) }
      submit.setBusy(true)
      dom.setText(trouble, "")
      prepare(items[...], in: conversation.feed.key?.room, [])
      dom.flush()
    }
    show("")
  }

  // MARK: What fits

  private func typed(_ words: String) {
    version += 1
    show(words)
    dom.flush()
    let asked = version
    guard !words.utf8.isEmpty else { return }
    Host.after(milliseconds: Self.pauseMilliseconds) { [self] in if asked == version, frame.isOpen { search(words) } }
  }

  private func show(_ words: String) {
    dom.releaseChildren(of: list)
    known = []
    for target in chosen { add(target) }
    app.ask(.roomList(.open(Self.list, .search(ByteString(words), pageSize: Self.roomsLimit))))
    for id in app.client.roomList(Self.list)?.rooms(in: .all) ?? [] {
      guard let room = app.client.room(id), room.canWrite(as: app.userID), !room.isSpace, !chosen.contains(.room(id)) else {
        continue
      }
      add(.room(id))
    }
    app.ask(.roomList(.close(Self.list)))
  }

  private func search(_ words: String) {
    let asked = version
    app.ask(.searchUsers(ByteString(words), limit: Self.peopleLimit)) { [self] result in
      guard asked == version, frame.isOpen, case .success(let found) = result else { return }
      for user in found.users where user.id != app.userID && !known.contains(user.id) {
        let name = Member.shownName(user.displayName, of: user.id).string
        let target = Target.user(Person(userID: user.id, name: name, avatar: user.avatar))
        if !chosen.contains(target) { add(target) }
      }
    }
  }

  private func add(_ target: Target) {
    let line = dom.element("label", "ma-target", in: list)
    let check = dom.element("input", in: line)
    dom.setAttribute(check, "type", "checkbox")
    if chosen.contains(target) { dom.setFlag(check, "checked", true) }
    switch target {
    case .room(let id):
      guard let room = app.client.room(id) else { return }
      if let user = room.directUserID { known.append(user) }
      dom.fill(
        line, id: room.directUserID?.string ?? id.string, Strings.words(for: room.name),
        room.directUserID?.string ?? room.canonicalAlias?.string, source: app.avatarSource(room.avatar))
    case .user(let person):
      let id = person.userID.string
      dom.fill(line, id: id, person.name, id, source: app.avatarSource(person.avatar))
    }
    dom.on(check, .change) { [self] event in
      chosen.removeAll { $0 == target }
      if event.x == 1, chosen.count < Self.targetsLimit { chosen.append(target) }
      dom.setText(trouble, "")
    }
  }

  // MARK: Sending on

  /// Makes one message after another; what is not a text is asked for as the event it is.
  private func prepare(_ rest: ArraySlice<TimelineItem>, in room: RoomID?, _ made: [OutgoingMessage]) {
    guard let item = rest.first else { return send(made) }
    if case .message(let message) = item.content, let text = OutgoingMessage.forwarding(message) {
      return prepare(rest.dropFirst(), in: room, made + [text])
    }
    guard let room, let event = item.eventID else { return prepare(rest.dropFirst(), in: room, made) }
    app.ask(.timeline(.loadEvent(room, event))) { [self] result in
      guard frame.isOpen else { return }
      switch result {
      case .event(let source):
        let message = source.json.flatMap { OutgoingMessage.forwarding($0) }
        prepare(rest.dropFirst(), in: room, made + (message.map { [$0] } ?? []))
      case .failed(let error): failed(error)
      default: submit.setBusy(false)
      }
    }
  }

  private func send(_ messages: [OutgoingMessage]) {
    waiting = chosen.count
    failure = nil
    for target in chosen {
      switch target {
      case .room(let room): send(messages, to: room, target)
      case .user(let person):
        app.ask(.rooms(.openDirectChat(with: person.userID.text))) { [self] result in
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
    let draft = app.client.room(room)?.draft(in: nil)
    for message in messages { app.askOrSay(.sending(.send(room, message))) }
    if let draft { app.ask(.sending(.setDraft(room, draft))) }
    ended(target, nil)
  }

  /// Who has the messages is not sent them again by another try.
  private func ended(_ target: Target, _ error: ClientError?) {
    failure = failure ?? error
    if error == nil { chosen.removeAll { $0 == target } }
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
    dom.setText(trouble, Strings.words(for: error))
    dom.flush()
  }
}
