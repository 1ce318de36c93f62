import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// The addresses of a room: the main one, others, and whether the public list names it.
final class AddressList<D: DOM> {
  private let app: App<D>
  private let frame: DialogFrame<D>
  private let dom: D
  private let room: RoomID
  private let page: Node
  /// Addresses that the list was made from.
  private var shownAliases: [RoomAlias] = []
  // What the server says; nil until then.
  private var localAliases: [RoomAlias]?
  private var isListed: Bool?

  init(_ app: App<D>, _ state: Room, _ frame: DialogFrame<D>, in parent: Node) {
    self.app = app
    self.frame = frame
    dom = app.dom
    room = state.id
    page = dom.element("div", "ma-form", in: parent)
    show(state)
    app.ask(.localAliases(of: room)) { [self] in took($0) { localAliases = $0 } }
    app.ask(.isPublished(room)) { [self] in took($0) { isListed = $0 } }
  }

  /// Where addresses are written the list stays as long as they are the same.
  func update(_ state: Room) { if aliases(state) != shownAliases { show(state) } }

  private func showAgain() { if let state = app.client.room(room) { show(state) } }

  /// What cannot be had has no line.
  private func took<Answer>(_ result: Result<Answer, ClientError>, _ keep: (Answer) -> Void) {
    guard frame.isOpen, case .success(let answer) = result else { return }
    keep(answer)
    showAgain()
  }

  /// The main one first.
  private func aliases(_ state: Room) -> [RoomAlias] {
    var aliases = named(state)
    for alias in localAliases ?? [] where !aliases.contains(alias) { aliases.append(alias) }
    return aliases
  }

  /// Those that the room itself tells.
  private func named(_ state: Room) -> [RoomAlias] { (state.canonicalAlias.map { [$0] } ?? []) + state.alternativeAliases }

  private func show(_ state: Room) {
    dom.releaseChildren(of: page)
    dom.element("h4", "ma-setting-title", text: .addresses, in: page)
    let mayChange = app.may(.sendState(.canonicalAlias), in: room)
    let list = dom.element("div", "ma-form", in: page)
    dom.setAttribute(list, "role", "list")
    dom.setLabel(list, .addresses)
    let aliases = aliases(state)
    shownAliases = aliases
    if aliases.isEmpty { dom.element("p", "ma-note", text: .noAddresses, in: page) }
    for alias in aliases { add(alias, state, mayChange, in: list) }
    if mayChange { addForm() }
    guard let isListed else { return }
    SettingLines(app, in: page).add(Strings[.isListed], isOn: isListed, isAllowed: mayChange) { [self] isOn, ended in
      app.save(.setPublished(room, isOn)) { [self] error in
        if error == nil { self.isListed = isOn }
        ended(error)
      }
    }
  }

  private func add(_ alias: RoomAlias, _ state: Room, _ mayChange: Bool, in list: Node) {
    let line = dom.element("div", "ma-listed", in: list)
    dom.setAttribute(line, "role", "listitem")
    let name = alias.string
    dom.element("span", "ma-entry-lines", text: name, in: line)
    let isMain = alias == state.canonicalAlias
    if isMain { dom.element("span", "ma-remark", text: .mainAddress, in: line) }
    guard mayChange else { return }
    if !isMain {
      let main = dom.button("ma-button ma-small", .makeMain, in: line)
      dom.setLabel(main, Strings[.makeMain, of: name])
      dom.on(main, .click) { [self] _ in publish(alias, named(state)) }
    }
    let remove = dom.button("ma-round", icon: .close, label: Strings[.removeNamed, name], in: line)
    dom.on(remove, .click) { [self] _ in self.remove(alias, state) }
  }

  /// The main address, and others that the room names.
  private func publish(_ alias: RoomAlias?, _ others: [RoomAlias]) {
    app.save(.setCanonicalAlias(alias, alternatives: others.filter { $0 != alias }, of: room)) { [self] in said($0) }
  }

  /// What leads to the room goes first: what the room names has to lead to it.
  private func remove(_ alias: RoomAlias, _ state: Room) {
    let unpublish = { [self] in
      guard named(state).contains(alias) else { return }
      let main = state.canonicalAlias
      publish(main == alias ? nil : main, state.alternativeAliases.filter { $0 != alias })
    }
    guard localAliases?.contains(alias) ?? false else { return unpublish() }
    app.save(.deleteAlias(alias)) { [self] error in
      said(error)
      guard error == nil else { return }
      localAliases?.removeAll { $0 == alias }
      showAgain()
      unpublish()
    }
  }

  private func addForm() {
    let form = dom.element("form", "ma-form", in: page)
    let field = Field(dom, .aliasName, hint: .aliasHint, in: form)
    dom.button("ma-button", .addAddress, submits: true, in: form)
    dom.on(form, .submit) { [self] _ in
      let name = field.text.trimmed
      guard name.isAliasName, let server = app.userID?.serverName, let alias = RoomAlias("#" + name + ":" + server.string)
      else {
        field.setError(Strings[.aliasWrong])
        return dom.flush()
      }
      app.save(.createAlias(alias, of: room)) { [self] error in
        // Spec: `PUT /directory/room/{roomAlias}`.
        if case .refused(409, _, _, _)? = error { return field.setError(Strings[.roomAddressTaken]) }
        if let error { return field.setError(Strings.words(for: error)) }
        localAliases = (localAliases ?? []) + [alias]
        showAgain()
        if let state = app.client.room(room), state.canonicalAlias == nil { publish(alias, state.alternativeAliases) }
      }
    }
  }

  private func said(_ error: ClientError?) {
    if let error { app.notices.show(Strings.words(for: error), isTrouble: true) }
  }
}
