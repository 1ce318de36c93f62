import ClientCore
import JSON
import MatrixModel
import MessageRows
import Messenger
import PageWidgets
import PageWords
import WebHost

/// Stands where messages will, as long as nobody has written any: of a chat the person, of a room what it is and what can be done first.
final class RoomBeginning<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let column: Node
  private let node: Node
  private let avatar: AvatarView<D>
  private var name: TextView<D>
  private var detail: TextView<D>
  private var topic: TextView<D>
  private var note: TextView<D>
  private let safety: SafetyLine<D>
  private let hello: Node
  private let invite: Node
  private let addTopic: Node
  private var room: RoomID?
  /// A greeting was sent, and its button is gone.
  var onHello: (() -> Void)?

  init(_ app: App<D>, in column: Node, before feed: Node) {
    self.app = app
    dom = app.dom
    self.column = column
    node = dom.element("div", "ma-beginning")
    dom.insert(node, into: column, before: feed)
    avatar = dom.avatar("ma-avatar-large", in: node)
    name = TextView(dom, "p", "ma-details-name", in: node)
    detail = TextView(dom, "p", "ma-note", in: node)
    topic = TextView(dom, "p", "ma-topic", in: node)
    note = TextView(dom, "p", "ma-note", in: node)
    safety = SafetyLine(dom, in: node)
    let buttons = dom.element("div", "ma-beginning-buttons", in: node)
    hello = dom.button("ma-button ma-primary", .sayHello, in: buttons)
    dom.setAttribute(dom.element("span", "ma-wave", text: "👋", in: hello), "aria-hidden", "true")
    invite = dom.button("ma-button ma-primary", .invite, icon: .people, in: buttons)
    addTopic = dom.button("ma-button", .addTopic, icon: .pencil, in: buttons)
    dom.setFlag(node, "hidden", true)
    dom.on(hello, .click) { [self] _ in sayHello() }
    dom.on(invite, .click) { [self] _ in if let room { app.openInvite(to: room) } }
    dom.on(addTopic, .click) { [self] _ in askTopic() }
  }

  /// - Parameters:
  ///   - state: nil hides this, as does a room in which somebody wrote.
  ///   - isUnreadable: the other one could not read what is encrypted.
  func update(_ state: Room?, isUnreadable: Bool) {
    let state = state.flatMap { isNew($0) ? $0 : nil }
    guard state != nil || room != nil else { return }
    room = state?.id
    dom.setFlag(node, "hidden", state == nil)
    dom.setFlag(column, "data-new", state != nil)
    guard let state else { return }
    let person = state.directUserID
    let title = Strings.words(for: state.name)
    avatar.show(id: person?.string ?? state.id.string, name: title, source: app.avatarSource(state.avatar))
    name.set(title)
    detail.set(person == nil ? Strings.memberCount(of: state) : "")
    topic.set(person == nil ? state.topic?.string ?? "" : "")
    note.set(Strings[person == nil ? .roomBegins : .chatBegins])
    safety.update(state, isUnreadable ? person.map { state.displayName(of: $0).string } : nil)
    let canWrite = app.canWrite(in: state)
    dom.setFlag(hello, "hidden", person == nil || !canWrite)
    dom.setFlag(invite, "hidden", person != nil || !app.may(.invite, in: state.id))
    dom.setFlag(addTopic, "hidden", person != nil || state.topic != nil || !app.may(.setTopic, in: state.id))
  }

  /// Whether all of it is here and nothing in it was said by anybody.
  private func isNew(_ room: Room) -> Bool {
    guard app.embedding == nil, room.membership == .join, !room.isSpace,
      let timeline = app.client.timeline(.live(room.id)), timeline.loadState == .loaded, timeline.backState == .atStart
    else { return false }
    return timeline.items.allSatisfy { $0.isState }
  }

  private func sayHello() {
    guard let room else { return }
    app.askOrSay(.sending(.send(room, .text("👋"))))
    // On a phone the keyboard would come up over what was sent.
    if !Host.pageState.contains(.narrow) { onHello?() }
  }

  private func askTopic() {
    guard let room else { return }
    app.dialogs.open {
      _ = PromptDialog(
        app, .addTopic, label: .topic, action: .save, busy: .saving, in: $0, { .rooms(.setTopic(room, ByteString($0))) })
    }
  }
}
