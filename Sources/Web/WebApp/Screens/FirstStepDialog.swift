import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// The one question after creating an account: how others shall see its owner. It can be skipped.
final class FirstStepDialog<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let frame: DialogFrame<D>
  private let avatar: AvatarView<D>
  private let picture: SubmitButton<D>
  private let name: Field<D>
  private let trouble: Node
  private let submit: SubmitButton<D>

  @discardableResult
  init(_ app: App<D>, in frame: DialogFrame<D>) {
    self.app = app
    self.frame = frame
    dom = app.dom
    frame.setTitle(.yourNameTitle)
    let form = dom.element("form", "ma-form ma-first-step", in: frame.body)
    dom.element("p", "ma-note", text: .yourNameNote, in: form)
    avatar = dom.avatar("ma-avatar-large", in: dom.element("div", "ma-profile", in: form))
    picture = SubmitButton(dom, .choosePicture, busy: .uploadingPicture, kind: "", in: form)
    dom.setAttribute(picture.node, "type", "button")
    name = Field(dom, .yourName, autocomplete: "name", in: form)
    trouble = frame.trouble(in: form)
    let buttons = dom.element("div", "ma-buttons", in: form)
    let skip = dom.button("ma-button", .skip, in: buttons)
    submit = SubmitButton(dom, .goOn, busy: .saving, in: buttons)
    frame.setFirst(name.input)
    show()
    name.onInput = { [self] in show() }
    dom.on(picture.node, .click) { [self] _ in change.pickPicture(picture) }
    dom.on(skip, .click) { _ in frame.close() }
    dom.on(form, .submit) { [self] _ in save() }
  }

  private var change: ProfileChange<D> {
    ProfileChange(app: app, frame: frame, trouble: trouble) { [self] in show() }
  }

  /// As others will see it.
  private func show() {
    guard let user = app.userID else { return }
    let typed = name.text.trimmed
    avatar.show(
      id: user.string, name: typed.utf8.isEmpty ? app.client.ownDisplayName?.string ?? user.string : typed,
      source: app.avatarSource(app.client.ownAvatar))
  }

  private func save() {
    let typed = name.text.trimmed
    guard !typed.utf8.isEmpty else { return picture.isBusy ? () : frame.close() }
    change.run(.account(.setDisplayName(ByteString(typed))), submit) { [self] in frame.close() }
  }
}
