import ClientCore
import JSON
import MatrixModel
import Messenger

/// A new conversation: with one person, in a new room or space, or in a room that is there.
final class NewDialog<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let frame: DialogFrame<D>
  private let tabs: Tabbed<D>
  private let forms: [Node]
  private let kind: Choice<D>
  private let directory: RoomDirectory<D>
  private let user: Field<D>
  private let name: Field<D>
  private let topic: Field<D>
  private let invited: Field<D>
  private let alias: Field<D>
  private let address: Field<D>
  private let trouble: Node
  private var isPublic = false
  private var isSpace = false

  init(_ app: App<D>, in frame: DialogFrame<D>) {
    self.app = app
    self.frame = frame
    dom = app.dom
    frame.setTitle(Strings[.newConversation])
    tabs = Tabbed(dom, [Strings[.directChat], Strings[.newRoom], Strings[.joinRoom]], in: frame.body)
    let chat = dom.element("form", "ma-form", in: frame.body)
    let room = dom.element("form", "ma-form", in: frame.body)
    let join = dom.element("form", "ma-form", in: frame.body)
    forms = [chat, room, join]
    user = Field(dom, Strings[.userID], hint: Strings[.userIDHint], in: chat)
    kind = Choice(
      dom, Strings[.kindOfRoom], [("", Strings[.plainRoom]), ("space", Strings[.space])], selected: "", in: room)
    name = Field(dom, Strings[.roomName], in: room)
    topic = Field(dom, Strings[.topicOptional], in: room)
    invited = Field(dom, Strings[.inviteOptional], hint: Strings[.inviteManyHint], in: room)
    let open = dom.element("label", "ma-check", in: room)
    let check = dom.element("input", in: open)
    dom.setAttribute(check, "type", "checkbox")
    dom.element("span", text: Strings[.anyoneMayJoin], in: open)
    alias = Field(dom, Strings[.aliasName], hint: Strings[.aliasHint], in: room)
    address = Field(dom, Strings[.joinAddress], hint: Strings[.joinAddressHint], in: join)
    directory = RoomDirectory(app, .server, in: frame, at: dom.element("div", "ma-form", in: frame.body))
    trouble = frame.trouble(in: frame.body)
    let buttons = [
      SubmitButton(dom, Strings[.startChat], busy: Strings[.starting], in: chat),
      SubmitButton(dom, Strings[.createRoom], busy: Strings[.creating], in: room),
      SubmitButton(dom, Strings[.join], busy: Strings[.joining], in: join)
    ]
    frame.setFirst(user.input)
    user.suggestPeople(app, in: frame)
    dom.on(check, .change) { [self] event in
      isPublic = event.x == 1
      showForm()
      dom.flush()
    }
    listen(to: buttons)
    showForm()
  }

  private func listen(to buttons: [SubmitButton<D>]) {
    tabs.onChange = { [self] _ in showForm() }
    kind.onChange = { [self] in isSpace = !$0.utf8.isEmpty }
    dom.on(forms[0], .submit) { [self] _ in run(.openDirectChat(with: ByteString(user.text.trimmed)), buttons[0], user) }
    dom.on(forms[1], .submit) { [self] _ in createRoom(buttons[1]) }
    dom.on(forms[2], .submit) { [self] _ in run(.join(ByteString(address.text.trimmed)), buttons[2], address) }
  }

  private func showForm() {
    for (index, form) in forms.enumerated() { dom.setFlag(form, "hidden", index != tabs.selected) }
    alias.setHidden(!isPublic)
    directory.setHidden(tabs.selected != 2)
    dom.setText(trouble, "")
  }

  private func createRoom(_ button: SubmitButton<D>) {
    let title = name.text.trimmed
    guard !title.utf8.isEmpty else { return fail(name, Strings[.roomNameMissing]) }
    var users: [UserID] = []
    for part in Array(invited.text.utf8).split(whereSeparator: { $0 == 0x20 || $0 == 0x2C || $0 == 0x09 }) {
      let text = ByteString(decoding: part)
      guard let user = UserID(text) else { return fail(invited, Strings[.notUserID, text.string]) }
      if user != app.userID { users.append(user) }
    }
    let local = alias.text.trimmed
    if isPublic {
      guard !local.utf8.isEmpty else { return fail(alias, Strings[.aliasMissing]) }
      guard !Array(local.utf8).contains(where: { $0 <= 0x20 || $0 == 0x3A || $0 == 0x23 }) else {
        return fail(alias, Strings[.aliasWrong])
      }
    }
    let about = topic.text.trimmed
    var room = NewRoom(
      preset: isPublic ? .publicChat : .privateChat, name: ByteString(title),
      topic: about.utf8.isEmpty ? nil : ByteString(about),
      aliasLocalpart: isPublic ? ByteString(local) : nil, invited: users)
    if isSpace { room.type = NewRoom.spaceType }
    run(.createRoom(room), button, name)
  }

  private func fail(_ field: Field<D>, _ text: String) {
    field.setError(text)
    field.focus()
    dom.flush()
  }

  private func run(_ command: Command, _ button: SubmitButton<D>, _ field: Field<D>) {
    guard !button.isBusy else { return }
    dom.setText(trouble, "")
    frame.enterRoom(app, by: command, button, trouble) { field.focus() }
  }
}
