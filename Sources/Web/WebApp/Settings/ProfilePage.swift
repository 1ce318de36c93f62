import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// The user's picture, name and ID, and the sign-out button.
final class ProfilePage<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let avatar: AvatarView<D>
  private let name: Field<D>

  @discardableResult
  init(_ app: App<D>, _ frame: DialogFrame<D>, in page: Node) {
    self.app = app
    dom = app.dom
    let top = dom.element("div", "ma-profile", in: page)
    avatar = dom.avatar("ma-avatar-large", in: top)
    let picture = SubmitButton(dom, .changePicture, busy: .uploadingPicture, kind: "", in: top)
    dom.setAttribute(picture.node, "type", "button")
    let form = dom.element("form", "ma-form", in: page)
    name = Field(dom, .displayName, hint: .displayNameHint, in: form)
    name.set(app.client.ownDisplayName?.string ?? "")
    let save = SubmitButton(dom, .save, busy: .saving, in: form)
    let trouble = frame.trouble(in: page)
    if let user = app.userID { CopyLine(app, .userID, user.string, in: page) }
    AdministrationLine(app, frame, in: page)
    let status = dom.button("ma-button ma-wide", .setStatus, icon: .smile, in: page)
    let out = dom.button("ma-button ma-danger ma-wide", .logOut, icon: .exit, in: page)
    showAvatar()
    let change = ProfileChange(app: app, frame: frame, trouble: trouble) { [self] in showAvatar() }
    dom.on(picture.node, .click) { _ in change.pickPicture(picture) }
    dom.on(form, .submit) { [self] _ in
      change.run(.account(.setDisplayName(ByteString(name.text.trimmed))), save)
    }
    dom.on(status, .click) { _ in app.dialogs.open { StatusDialog(app, in: $0) } }
    dom.on(out, .click) { _ in app.askLogOut() }
  }

  private func showAvatar() {
    guard let user = app.userID else { return }
    avatar.show(
      id: user.string, name: app.client.ownDisplayName?.string ?? user.string, source: app.avatarSource(app.client.ownAvatar))
  }
}
