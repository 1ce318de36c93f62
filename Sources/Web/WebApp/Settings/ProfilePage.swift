import ClientCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// Oneself: picture, name, ID, and the way out.
final class ProfilePage<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let frame: DialogFrame<D>
  private let avatar: AvatarView<D>
  private let name: Field<D>
  private let trouble: Node

  @discardableResult
  init(_ app: App<D>, _ frame: DialogFrame<D>, in page: Node) {
    self.app = app
    self.frame = frame
    dom = app.dom
    let top = dom.element("div", "ma-profile", in: page)
    avatar = dom.avatar("ma-avatar-large", in: top)
    let picture = SubmitButton(dom, .changePicture, busy: .uploadingPicture, kind: "", in: top)
    dom.setAttribute(picture.node, "type", "button")
    let form = dom.element("form", "ma-form", in: page)
    name = Field(dom, .displayName, hint: .displayNameHint, in: form)
    name.set(app.client.ownDisplayName?.string ?? "")
    let save = SubmitButton(dom, .save, busy: .saving, in: form)
    trouble = frame.trouble(in: page)
    if let user = app.userID { CopyLine(app, .userID, user.string, in: page) }
    AdministrationLine(app, frame, in: page)
    let status = dom.button("ma-button ma-wide", .setStatus, icon: .smile, in: page)
    let out = dom.button("ma-button ma-danger ma-wide", .logOut, icon: .exit, in: page)
    showAvatar()
    dom.on(picture.node, .click) { [self] _ in pick(picture) }
    dom.on(form, .submit) { [self] _ in
      run(.account(.setDisplayName(ByteString(name.text.trimmed))), save)
    }
    dom.on(status, .click) { _ in app.dialogs.open { StatusDialog(app, in: $0) } }
    dom.on(out, .click) { _ in app.askLogOut() }
  }

  private func showAvatar() {
    guard let user = app.userID else { return }
    avatar.show(
      id: user.string, name: app.client.ownDisplayName?.string ?? user.string, source: app.avatarSource(app.client.ownAvatar))
  }

  private func pick(_ button: SubmitButton<D>) {
    Host.pickFiles(accept: "image/*", isMultiple: false) { [self] files in
      guard frame.isOpen, let file = files.first else { return }
      guard file.isImage else {
        dom.setText(trouble, .notPicture)
        return dom.flush()
      }
      run(.account(.setAvatar(app.effects.blobs.add(file), mimeType: ByteString(file.mediaType))), button)
    }
  }

  private func run(_ command: Command, _ button: SubmitButton<D>) {
    guard !button.isBusy else { return }
    button.setBusy(true)
    dom.setText(trouble, "")
    app.ask(command) { [self] result in
      guard frame.isOpen else { return }
      button.setBusy(false)
      showAvatar()
      if case .failed(let error) = result { dom.setText(trouble, Strings.words(for: error)) }
    }
    dom.flush()
  }
}
