import ClientCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// Oneself: picture, name, ID, and the way out.
final class ProfileDialog<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let frame: DialogFrame<D>
  private let avatar: AvatarView<D>
  private let name: Field<D>
  private let trouble: Node

  init(_ app: App<D>, in frame: DialogFrame<D>) {
    self.app = app
    self.frame = frame
    dom = app.dom
    frame.setTitle(Strings[.profile])
    let top = dom.element("div", "ma-profile", in: frame.body)
    avatar = dom.avatar("ma-avatar-large", in: top)
    let picture = SubmitButton(dom, Strings[.changePicture], busy: Strings[.uploadingPicture], kind: "", in: top)
    dom.setAttribute(picture.node, "type", "button")
    let form = dom.element("form", "ma-form", in: frame.body)
    name = Field(dom, Strings[.displayName], hint: Strings[.displayNameHint], in: form)
    name.set(app.client.ownDisplayName?.string ?? "")
    let save = SubmitButton(dom, Strings[.save], busy: Strings[.saving], in: form)
    trouble = frame.trouble(in: frame.body)
    if let user = app.userID { CopyLine(app, Strings[.userID], user.string, in: frame.body) }
    let receipts = dom.element("label", "ma-check", in: frame.body)
    let check = dom.element("input", in: receipts)
    dom.setAttribute(check, "type", "checkbox")
    if app.keepsReceiptsPrivate { dom.setFlag(check, "checked", true) }
    dom.element("span", text: Strings[.privateReceipts], in: receipts)
    LanguageChoice(dom, in: frame.body)
    let out = dom.button("ma-button ma-danger ma-wide", Strings[.logOut], icon: .exit, in: frame.body)
    showAvatar()
    dom.on(picture.node, .click) { [self] _ in pick(picture) }
    dom.on(form, .submit) { [self] _ in run(.setDisplayName(ByteString(name.text.trimmed)), save) }
    dom.on(check, .change) { app.keepsReceiptsPrivate = $0.x == 1 }
    dom.on(out, .click) { _ in
      app.dialogs.open {
        ConfirmDialog(
          app, Strings[.logOutQuestion], note: Strings[.logOutNote], action: Strings[.logOut], busy: Strings[.loggingOut],
          .logOut, in: $0)
      }
    }
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
        dom.setText(trouble, Strings[.notPicture])
        return dom.flush()
      }
      run(.setAvatar(app.effects.blobs.add(file), mimeType: ByteString(file.mediaType)), button)
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
