import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords

/// Invites people into a room or space.
final class InvitePeopleDialog<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let frame: DialogFrame<D>
  private let room: RoomID
  private let picker: PeoplePicker<D>
  private let submit: SubmitButton<D>
  private let trouble: Node

  @discardableResult
  init(_ app: App<D>, to room: RoomID, in frame: DialogFrame<D>) {
    self.app = app
    self.frame = frame
    self.room = room
    dom = app.dom
    frame.setTitle(.inviteTitle)
    let form = dom.element("form", "ma-form", in: frame.body)
    picker = PeoplePicker(
      app, .several, among: .outside(room), .personField, hint: .personHint, name: "ma-invited", offersAtOnce: true, at: form
    ) { frame.isOpen }
    frame.setFirst(picker.input)
    trouble = frame.trouble(in: form)
    let buttons = dom.element("div", "ma-buttons", in: form)
    let cancel = dom.button("ma-button", .cancel, in: buttons)
    submit = SubmitButton(dom, .invite, busy: .inviting, in: buttons)
    InviteLinkBox(app, to: room, in: frame, at: frame.body)
    dom.on(cancel, .click) { _ in frame.close() }
    dom.on(form, .submit) { [self] _ in invite() }
  }

  private func invite() {
    guard !submit.isBusy, picker.settle() else { return }
    let users = picker.chosen
    guard !users.isEmpty else {
      picker.setError(Strings[.personMissing])
      return dom.flush()
    }
    dom.setText(trouble, "")
    submit.setBusy(true)
    app.invite(users, to: room) { [self] refused, error in
      let count = users.count - refused.count
      // Those who are invited now are members: what is left to try again are the others.
      if let error, count == 0, frame.isOpen {
        submit.setBusy(false)
        dom.setText(trouble, Strings.words(for: error))
        return picker.focus()
      }
      frame.close()
      if count > 0 { app.notices.show(Strings[.invited, count: count]) }
      if let error { app.sayNotInvited(refused, error) }
    }
    dom.flush()
  }
}
