import ClientCore
import ClientHost
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// Picture, name, topic and address of a room; in its settings each with a way to change it for those who may.
final class RoomTitle<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let avatar: AvatarView<D>
  private let picture: SubmitButton<D>
  private var name: TextView<D>
  private var topic: TextView<D>
  private let editName: Node
  private let editTopic: Node
  private let about: Node
  private let address: Node
  private var shownAddress = ""
  private var room: RoomID?
  private let isEditable: Bool

  /// - Parameter isEditable: whether those who may change it have the buttons for that.
  init(_ app: App<D>, isEditable: Bool = false, in parent: Node) {
    self.app = app
    self.isEditable = isEditable
    dom = app.dom
    let top = dom.element("div", "ma-profile", in: parent)
    avatar = dom.avatar("ma-avatar-large", in: top)
    picture = SubmitButton(dom, .changePicture, busy: .uploadingPicture, kind: "ma-small", in: top)
    dom.setAttribute(picture.node, "type", "button")
    name = TextView(dom, "h3", "ma-details-name", in: top)
    editName = dom.button("ma-link", Strings[.edit], label: Strings[.edit, of: Strings[.roomName]], in: top)
    about = dom.element("div", "ma-section", in: parent)
    dom.element("h4", "ma-field-label", text: .topic, in: about)
    topic = TextView(dom, "p", "ma-topic", in: about)
    editTopic = dom.button("ma-link", Strings[.edit], label: Strings[.edit, of: Strings[.topic]], in: about)
    address = dom.element("div", in: parent)
    dom.on(picture.node, .click) { [self] _ in pickPicture() }
    dom.on(editName, .click) { [self] _ in askName() }
    dom.on(editTopic, .click) { [self] _ in askTopic() }
  }

  func update(_ state: Room) {
    room = state.id
    let title = Strings.words(for: state.name)
    avatar.show(id: state.directUserID?.string ?? state.id.string, name: title, source: app.avatarSource(state.avatar))
    name.set(title)
    topic.set(state.topic?.string ?? Strings[.noTopic])
    dom.setFlag(about, "hidden", !isEditable && state.topic == nil)
    dom.setFlag(picture.node, "hidden", !isEditable || !app.may(.setAvatar, in: state.id))
    dom.setFlag(editName, "hidden", !isEditable || !app.may(.setName, in: state.id))
    dom.setFlag(editTopic, "hidden", !isEditable || !app.may(.setTopic, in: state.id))
    let alias = state.canonicalAlias?.string ?? ""
    guard !alias.hasSameBytes(as: shownAddress) else { return }
    shownAddress = alias
    dom.releaseChildren(of: address)
    if !alias.utf8.isEmpty { CopyLine(app, .address, alias, in: address) }
  }

  private func askName() {
    guard let id = room else { return }
    var text = ""
    if case .text(let name)? = app.client.room(id)?.name { text = name.string }
    app.dialogs.open {
      _ = PromptDialog(
        app, .roomName, label: .roomName, text: text, action: .save, busy: .saving, in: $0,
        { .rooms(.setName(id, ByteString($0))) })
    }
  }

  private func askTopic() {
    guard let id = room else { return }
    let text = app.client.room(id)?.topic?.string ?? ""
    app.dialogs.open {
      _ = PromptDialog(
        app, .topic, label: .topic, text: text, action: .save, busy: .saving, in: $0,
        { .rooms(.setTopic(id, ByteString($0))) })
    }
  }

  private func pickPicture() {
    guard let id = room, !picture.isBusy else { return }
    Host.pickFiles(accept: "image/*", isMultiple: false) { [self] files in
      guard let file = files.first else { return }
      guard file.isImage else { return app.notices.show(.notPicture, isTrouble: true) }
      picture.setBusy(true)
      app.ask(.upload(app.effects.blobs.add(file), mimeType: ByteString(file.mediaType))) { [self] result in
        guard case .success(let uri) = result else { return pictureEnded(result) }
        app.ask(.setAvatar(uri, of: id)) { [self] in pictureEnded($0) }
      }
      dom.flush()
    }
  }

  private func pictureEnded<Answer>(_ result: Result<Answer, ClientError>) {
    picture.setBusy(false)
    if case .failure(let error) = result { app.notices.show(Strings.words(for: error), isTrouble: true) }
  }
}
