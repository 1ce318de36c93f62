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
  private let peoplePlace: Node
  private let linkPlace: Node
  private let user: Field<D>
  private let name: Field<D>
  private let topic: Field<D>
  private let invited: Field<D>
  private let alias: Field<D>
  private let address: Field<D>
  private let trouble: Node
  private let space: RoomID?
  private var isPublic = false
  private var isSpace = false

  /// - Parameter space: that a new room is put into; the dialog opens where one is made.
  init(_ app: App<D>, space: RoomID? = nil, in frame: DialogFrame<D>) {
    self.app = app
    self.frame = frame
    self.space = space
    dom = app.dom
    frame.setTitle(.newConversation)
    tabs = Tabbed(dom, [.directChat, .newRoom, .joinRoom], in: frame.body)
    let chat = dom.element("form", "ma-form", in: frame.body)
    let room = dom.element("form", "ma-form", in: frame.body)
    let join = dom.element("form", "ma-form", in: frame.body)
    forms = [chat, room, join]
    user = Field(dom, .userID, hint: .userIDHint, in: chat)
    kind = Choice(
      dom, Strings[.kindOfRoom], [("", Strings[.plainRoom]), ("space", Strings[.space])], selected: "", in: room)
    name = Field(dom, .roomName, in: room)
    topic = Field(dom, .topicOptional, in: room)
    invited = Field(dom, .inviteOptional, hint: .inviteManyHint, in: room)
    let open = dom.element("label", "ma-check", in: room)
    let check = dom.element("input", in: open)
    dom.setAttribute(check, "type", "checkbox")
    dom.element("span", text: .anyoneMayJoin, in: open)
    alias = Field(dom, .aliasName, hint: .aliasHint, in: room)
    address = Field(dom, .joinAddress, hint: .joinAddressHint, in: join)
    directory = RoomDirectory(app, .server, in: frame, at: dom.element("div", "ma-form", in: frame.body))
    peoplePlace = dom.element("div", "ma-form", in: frame.body)
    linkPlace = dom.element("div", in: frame.body)
    trouble = frame.trouble(in: frame.body)
    let buttons = [
      SubmitButton(dom, .startChat, busy: .starting, in: chat),
      SubmitButton(dom, .createRoom, busy: .creating, in: room),
      SubmitButton(dom, .join, busy: .joining, in: join)
    ]
    frame.setFirst(user.input)
    user.suggestPeople(app, in: frame)
    let suggest = user.onInput
    user.onInput = { [self] in
      suggest?()
      showPeople()
    }
    PeopleDirectory(app, in: frame, at: peoplePlace) { [self] in
      user.set($0.string)
      run(.rooms(.openDirectChat(with: $0.text)), buttons[0], user)
    }
    InviteLinkBox(app, to: nil, in: frame, at: linkPlace)
    invited.suggestPeople(app, in: frame, "ma-invited")
    dom.on(check, .change) { [self] event in
      isPublic = event.x == 1
      showForm()
      dom.flush()
    }
    listen(to: buttons)
    if space != nil { tabs.select(1) } else { showForm() }
  }

  private func listen(to buttons: [SubmitButton<D>]) {
    // What one had scrolled to is not there any more.
    tabs.onChange = { [self] _ in
      showForm()
      dom.setLength(frame.body, .scrollTop, 0)
    }
    kind.onChange = { [self] in isSpace = !$0.utf8.isEmpty }
    dom.on(forms[0], .submit) { [self] _ in run(.rooms(.openDirectChat(with: ByteString(user.text.trimmed))), buttons[0], user)
    }
    dom.on(forms[1], .submit) { [self] _ in createRoom(buttons[1]) }
    dom.on(forms[2], .submit) { [self] _ in run(.rooms(.join(ByteString(address.text.trimmed))), buttons[2], address) }
  }

  private func showForm() {
    for (index, form) in forms.enumerated() { dom.setFlag(form, "hidden", index != tabs.selected) }
    alias.setHidden(!isPublic)
    directory.setHidden(tabs.selected != 2)
    showPeople()
    dom.setText(trouble, "")
  }

  /// Of somebody whose name one writes the browser offers what fits.
  private func showPeople() {
    dom.setFlag(peoplePlace, "hidden", tabs.selected != 0 || !user.text.utf8.isEmpty)
    dom.setFlag(linkPlace, "hidden", tabs.selected != 0)
  }

  private func createRoom(_ button: SubmitButton<D>) {
    let title = name.text.trimmed
    guard !title.utf8.isEmpty else { return fail(name, Strings[.roomNameMissing]) }
    let (users, wrong) = app.users(in: invited.text)
    if let wrong { return fail(invited, Strings[.notUserID, wrong]) }
    let local = alias.text.trimmed
    if isPublic {
      guard !local.utf8.isEmpty else { return fail(alias, Strings[.aliasMissing]) }
      guard local.isAliasName else { return fail(alias, Strings[.aliasWrong]) }
    }
    let about = topic.text.trimmed
    var room = NewRoom(
      preset: isPublic ? .publicChat : .privateChat, name: ByteString(title),
      topic: about.utf8.isEmpty ? nil : ByteString(about),
      aliasLocalpart: isPublic ? ByteString(local) : nil, invited: users)
    if isSpace { room.type = NewRoom.spaceType }
    run(.rooms(.create(room)), button, name)
  }

  private func fail(_ field: Field<D>, _ text: String) {
    field.setError(text)
    field.focus()
    dom.flush()
  }

  private func run(_ command: Command, _ button: SubmitButton<D>, _ field: Field<D>) {
    guard !button.isBusy else { return }
    dom.setText(trouble, "")
    frame.enterRoom(app, by: command, button, trouble, entered: { [app, space] in app.put($0, in: space) }) { field.focus() }
  }
}

extension App {
  /// Into the space, where there is one.
  fileprivate func put(_ room: RoomID, in space: RoomID?) {
    guard let space else { return }
    let servers = userID.map { [$0.serverName] } ?? []
    askOrSay(.spaces(.setChild(room, in: space, SpaceChildChange(servers: servers)))) { [self] in
      notices.show(.addedToSpace)
    }
  }
}

extension String {
  /// Whether it can stand between the `#` and the `:` of an address.
  var isAliasName: Bool { !utf8.isEmpty && !utf8.contains { $0 <= 0x20 || $0 == 0x3A || $0 == 0x23 } }
}
