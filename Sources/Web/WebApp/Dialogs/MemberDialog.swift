import ClientCore
import JSON
import MatrixModel
import Messenger

/// A member of a room: who it is, a way to write to them, a way to show them out.
struct MemberDialog<D: DOM> {
  init(_ app: App<D>, _ user: UserID, in room: RoomID, at frame: DialogFrame<D>) {
    let dom = app.dom
    let state = app.client.room(room)
    let name = state?.displayName(of: user).string ?? user.string
    frame.setTitle(name)
    let top = dom.element("div", "ma-profile", in: frame.body)
    dom.avatar("ma-avatar-large", in: top).show(
      id: user.string, name: name, source: app.avatarSource(state?.avatar(of: user)))
    CopyLine(app, Strings[.userID], user.string, in: frame.body)
    let trouble = frame.trouble(in: frame.body)
    guard user != app.userID else { return }
    let buttons = dom.element("div", "ma-buttons", in: frame.body)
    if let membership = state?.membership(of: user), membership == .join || membership == .invite, !(state?.isDirect ?? true),
      let me = app.userID, state?.powerLevels?.canKick(user, by: me) ?? true
    {
      let remove = dom.button("ma-button ma-danger", Strings[.remove], in: buttons)
      dom.on(remove, .click) { _ in
        app.dialogs.open {
          ConfirmDialog(
            app, Strings[.removeQuestion], note: name, action: Strings[.remove], busy: Strings[.removing],
            .kick(room, user, reason: nil), in: $0
          ) { frame.close() }
        }
      }
    }
    let write = SubmitButton(dom, Strings[.message], busy: Strings[.starting], in: buttons)
    frame.setFirst(write.node)
    dom.on(write.node, .click) { _ in
      guard !write.isBusy else { return }
      frame.enterRoom(app, by: .openDirectChat(with: user.text), write, trouble)
    }
  }
}
