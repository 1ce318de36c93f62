import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets

/// A new conversation: with one person, in a new room or space, or in a room that is there.
final class NewDialog<D: DOM> {
  /// What it opens with.
  enum Start: Int { case chat, room, join }

  private let app: App<D>
  private let dom: D
  private let frame: DialogFrame<D>
  private let tabs: Tabbed<D>
  private let forms: [Node]
  private let kind: Choice<D>
  private let directory: RoomDirectory<D>
  private let peoplePlace: Node
  private let linkPlace: Node
  private let user: PeoplePicker<D>
  private let name: Field<D>
  private let topic: Field<D>
  private let invited: PeoplePicker<D>
  private let alias: Field<D>
  private let address: Field<D>
  private let trouble: Node
  private let space: RoomID?
  private var isPublic = false
  private var isSpace = false
  /// As the user has decided; nil as long as the server's wish holds.
  private var isEncrypted: Bool?
  private var wishes = EncryptionWishes()
  /// The switch for it and what it means.
  private let encryption: Node
  private let encryptCheck: Node
  private let encryptionNote: Node
  /// The address was written by hand.
  private var hasOwnAddress = false

  /// - Parameter space: the space that gets the new room; the dialog then opens at the form for a new room.
  init(_ app: App<D>, _ start: Start = .chat, space: RoomID? = nil, in frame: DialogFrame<D>) {
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
    user = PeoplePicker(
      app, .one, .personField, hint: .personHint, name: "ma-people", offersAtOnce: true, at: chat
    ) { frame.isOpen }
    name = Field(dom, .roomName, in: room)
    invited = PeoplePicker(
      app, .several, .inviteOptional, hint: .personHint, name: "ma-invited", offersAtOnce: true, at: room
    ) { frame.isOpen }
    topic = Field(dom, .topicOptional, in: room)
    let open = dom.element("label", "ma-check", in: room)
    let check = dom.element("input", in: open)
    dom.setAttribute(check, "type", "checkbox")
    dom.element("span", text: .anyoneMayJoin, in: open)
    alias = Field(dom, .aliasName, hint: .aliasHint, in: room)
    encryption = dom.element("div", in: room)
    let encrypt = dom.element("label", "ma-check", in: encryption)
    encryptCheck = dom.element("input", in: encrypt)
    dom.setAttribute(encryptCheck, "type", "checkbox")
    dom.element("span", text: .encryptRoom, in: encrypt)
    encryptionNote = dom.element("p", "ma-note", text: .encryptRoomNote, in: encryption)
    kind = Choice(
      dom, Strings[.kindOfRoom], [("", Strings[.plainRoom]), ("space", Strings[.space])], selected: "", in: room)
    address = Field(dom, .joinAddress, hint: .joinAddressHint, in: join)
    directory = RoomDirectory(app, .server, in: frame, at: dom.element("div", "ma-form", in: frame.body))
    // Above the people, who become more the further one scrolls.
    linkPlace = dom.element("div", in: frame.body)
    peoplePlace = dom.element("div", "ma-form", in: frame.body)
    trouble = frame.trouble(in: frame.body)
    let buttons = [
      SubmitButton(dom, .startChat, busy: .starting, in: chat),
      SubmitButton(dom, .createRoom, busy: .creating, in: room),
      SubmitButton(dom, .join, busy: .joining, in: join)
    ]
    frame.setFirst(user.input)
    user.onInput = { [self] in showPeople() }
    user.onTake = { [self] user in startChat(with: user, buttons[0]) }
    PeopleDirectory(app, except: user.offered, in: frame, at: peoplePlace) { [self] in startChat(with: $0, buttons[0]) }
    name.onInput = { [self] in proposeAddress() }
    alias.onInput = { [self] in hasOwnAddress = !alias.text.utf8.isEmpty }
    InviteLinkBox(app, to: nil, in: frame, at: linkPlace)
    dom.on(check, .change) { [self] event in
      isPublic = event.x == 1
      proposeAddress()
      showForm()
      dom.flush()
    }
    dom.on(encryptCheck, .change) { [self] event in
      isEncrypted = event.x == 1
      showEncryption()
      dom.flush()
    }
    app.learnWishes { [self] in
      guard frame.isOpen else { return }
      wishes = $0
      showEncryption()
      dom.flush()
    }
    listen(to: buttons)
    let tab = space == nil ? start : .room
    if tab == .chat { showForm() } else { tabs.select(tab.rawValue) }
  }

  private func listen(to buttons: [SubmitButton<D>]) {
    // What one had scrolled to is not there any more.
    tabs.onChange = { [self] _ in
      showForm()
      dom.setLength(frame.body, .scrollTop, 0)
    }
    tabs.onPress = { [self] tab in
      switch tab {
      case 0: user.focus()
      case 1: name.focus()
      default: address.focus()
      }
    }
    kind.onChange = { [self] in
      isSpace = !$0.utf8.isEmpty
      showForm()
      dom.flush()
    }
    dom.on(forms[0], .submit) { [self] _ in _ = user.settle() }
    dom.on(forms[1], .submit) { [self] _ in createRoom(buttons[1]) }
    dom.on(forms[2], .submit) { [self] _ in
      run(.rooms(.join(ByteString(address.text.trimmed))), buttons[2]) { [self] in address.focus() }
    }
  }

  private func showForm() {
    for (index, form) in forms.enumerated() { dom.setFlag(form, "hidden", index != tabs.selected) }
    alias.setHidden(!isPublic)
    showEncryption()
    directory.setHidden(tabs.selected != 2)
    showPeople()
    dom.setText(trouble, "")
  }

  /// Rooms that anybody can join gain nothing by it.
  private var mayEncrypt: Bool {
    app.client.encrypts && !isSpace && !wishes.forbidsEncryption && (!isPublic || wishes.publicRooms)
  }

  private var encrypts: Bool { mayEncrypt && isEncrypted ?? wishes.privateRooms }

  private func showEncryption() {
    dom.setFlag(encryption, "hidden", !mayEncrypt)
    dom.setFlag(encryptCheck, "checked", encrypts)
    dom.setFlag(encryptionNote, "hidden", !encrypts)
  }

  /// As soon as something is typed, the people who fit take their place.
  private func showPeople() {
    dom.setFlag(peoplePlace, "hidden", tabs.selected != 0 || !user.text.utf8.isEmpty)
    dom.setFlag(linkPlace, "hidden", tabs.selected != 0)
  }

  /// From the name, until another is written.
  private func proposeAddress() { if isPublic, !hasOwnAddress { alias.set(name.text.proposedAliasName) } }

  private func startChat(with user: UserID, _ button: SubmitButton<D>) {
    run(.rooms(.openDirectChat(with: user.text)), button) { [self] in self.user.focus() }
  }

  private func createRoom(_ button: SubmitButton<D>) {
    guard !button.isBusy else { return }
    let title = name.text.trimmed
    guard invited.settle() else { return }
    let users = invited.chosen
    // A small room goes by the names of the people in it.
    if title.utf8.isEmpty, isPublic || isSpace || users.isEmpty { return fail(name, Strings[.roomNameMissing]) }
    let local = alias.text.trimmed
    if isPublic, !local.utf8.isEmpty, !local.isAliasName { return fail(alias, Strings[.aliasWrong]) }
    let about = topic.text.trimmed
    var room = NewRoom(
      preset: isPublic ? .publicChat : .privateChat, name: title.utf8.isEmpty ? nil : ByteString(title),
      topic: about.utf8.isEmpty ? nil : ByteString(about),
      aliasLocalpart: isPublic && !local.utf8.isEmpty ? ByteString(local) : nil, invited: users)
    if isSpace { room.type = NewRoom.spaceType }
    room.isEncrypted = encrypts
    run(.rooms(.create(room)), button) { [self] in name.focus() }
  }

  private func fail(_ field: Field<D>, _ text: String) {
    field.setError(text)
    field.focus()
    dom.flush()
  }

  private func run(_ command: Command, _ button: SubmitButton<D>, failed: @escaping () -> Void) {
    guard !button.isBusy else { return }
    dom.setText(trouble, "")
    frame.enterRoom(app, by: command, button, trouble, entered: { [app, space] in app.put($0, in: space) }, failed: failed)
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

  /// What an address could be for a room of this name: no white space, no characters that an address may not have. Empty if there are none.
  var proposedAliasName: String {
    var bytes: [UInt8] = []
    for byte in asciiLowercased.utf8 where byte > 0x7F || byte == 0x20 || byte == 0x2D || Self.isWord(byte) {
      let byte = byte == 0x20 ? 0x2D : byte
      if byte == 0x2D, bytes.last ?? 0x2D == 0x2D { continue }
      bytes.append(byte)
    }
    if bytes.last == 0x2D { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    byte >= 0x30 && byte <= 0x39 || byte >= 0x61 && byte <= 0x7A || byte == 0x5F || byte == 0x2E
  }
}
