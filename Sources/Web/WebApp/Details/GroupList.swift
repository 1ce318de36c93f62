import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords

/// `GroupList`, made anew when the groups change.
final class GroupsPage<D: DOM> {
  private let app: App<D>
  private let page: Node
  private var shown: [RoomGroup]?

  init(_ app: App<D>, _ state: Room, in parent: Node) {
    self.app = app
    page = app.dom.element("div", "ma-form", in: parent)
    update(state)
  }

  func update(_ state: Room) {
    guard state.groups != shown else { return }
    shown = state.groups
    app.dom.releaseChildren(of: page)
    GroupList(app, state, in: page)
  }
}

/// The groups of a room that one word calls, for those who may change them with the ways to do it.
struct GroupList<D: DOM> {
  /// Members of a group who are named.
  private static var namesLimit: Int { 12 }

  private let app: App<D>
  private let room: RoomID

  @discardableResult
  init(_ app: App<D>, _ state: Room, in page: Node) {
    self.app = app
    room = state.id
    let dom = app.dom
    let mayChange = app.may(.sendState(Room.groupsType), in: room)
    dom.element("p", "ma-note", text: .groupsNote, in: page)
    let list = dom.element("div", "ma-form", in: page)
    dom.setAttribute(list, "role", "list")
    dom.setLabel(list, .groups)
    for group in state.groups { add(group, state, mayChange, in: list) }
    guard mayChange, state.groups.count < RoomGroup.groupsLimit else { return }
    let new = dom.button("ma-button", .newGroup, in: page)
    dom.on(new, .click) { [self] _ in app.dialogs.open { GroupDialog(app, room, nil, in: $0) } }
  }

  private func add(_ group: RoomGroup, _ state: Room, _ mayChange: Bool, in list: Node) {
    let dom = app.dom
    let line = dom.element("div", "ma-listed", in: list)
    dom.setAttribute(line, "role", "listitem")
    let name = "@" + group.name.string
    let lines = dom.element("span", "ma-entry-lines", in: line)
    dom.element("strong", text: name, in: lines)
    var people = group.users.prefix(Self.namesLimit).map { state.displayName(of: $0).string }
    if group.users.count > people.count { people.append(Strings[.others, count: group.users.count - people.count]) }
    dom.element("span", "ma-note", text: Strings.list(people), in: lines)
    guard mayChange else { return }
    let edit = dom.button("ma-button ma-small", .edit, in: line)
    dom.setLabel(edit, Strings[.edit, of: name])
    dom.on(edit, .click) { [self] _ in app.dialogs.open { GroupDialog(app, room, group, in: $0) } }
    let remove = dom.button("ma-round", icon: .close, label: Strings[.removeNamed, name], in: line)
    dom.on(remove, .click) { [self] _ in
      let others = (app.client.room(room)?.groups ?? []).filter { $0.name != group.name }
      app.save(.setGroups(others, of: room)) { error in
        if let error { app.notices.show(Strings.words(for: error), isTrouble: true) }
      }
    }
  }
}

/// A group of a room: how it is called, and who is in it.
final class GroupDialog<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let frame: DialogFrame<D>
  private let room: RoomID
  private let group: RoomGroup?
  private let name: Field<D>
  private let members: PeoplePicker<D>
  private let trouble: Node

  /// - Parameter group: nil for a new one.
  @discardableResult
  init(_ app: App<D>, _ room: RoomID, _ group: RoomGroup?, in frame: DialogFrame<D>) {
    self.app = app
    self.frame = frame
    self.room = room
    self.group = group
    dom = app.dom
    frame.setTitle(group == nil ? .newGroup : .groups)
    let form = dom.element("form", "ma-form", in: frame.body)
    name = Field(dom, .groupName, hint: .groupNameHint, in: form)
    if let group { name.set(group.name.string) }
    frame.setFirst(name.input)
    members = PeoplePicker(
      app, .several, among: .members(room), .groupMember, hint: .saidByHint, name: "ma-grouped", offersAtOnce: true,
      chosenLimit: RoomGroup.usersLimit, at: form
    ) { frame.isOpen }
    trouble = frame.trouble(in: form)
    let buttons = dom.element("div", "ma-buttons", in: form)
    let cancel = dom.button("ma-button", .cancel, in: buttons)
    let submit = SubmitButton(dom, .save, busy: .saving, in: buttons)
    dom.on(cancel, .click) { _ in frame.close() }
    if let state = app.client.room(room) {
      let users = group?.users ?? []
      members.choose(users.map { PeopleFinder.Person($0, shownAs: state.displayName(of: $0), avatar: state.avatar(of: $0)) })
    }
    dom.on(form, .submit) { [self] _ in if !submit.isBusy, members.settle() { save(submit) } }
    frame.onEnd = { [members] in members.close() }
  }

  private func save(_ submit: SubmitButton<D>) {
    let new = ByteString(name.text.trimmed)
    var groups = app.client.room(room)?.groups ?? []
    let place = groups.firstIndex { $0.name == group?.name }
    if let place { groups.remove(at: place) }
    guard RoomGroup.isName(new), !groups.contains(where: { $0.name == new }) else {
      name.setError(Strings[.groupNameWrong])
      name.focus()
      return dom.flush()
    }
    groups.insert(RoomGroup(new, members.chosen), at: place ?? groups.count)
    submit.setBusy(true)
    app.save(.setGroups(groups, of: room)) { [self] error in
      guard frame.isOpen else { return }
      guard let error else { return frame.close() }
      submit.setBusy(false)
      dom.setText(trouble, Strings.words(for: error))
      dom.flush()
    }
    dom.flush()
  }
}
