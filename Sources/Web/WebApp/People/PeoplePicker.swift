import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// A field in which people are found as one types, wherever people are chosen. Source: ARIA Authoring Practices, "Combobox".
final class PeoplePicker<D: DOM> {
  enum Purpose {
    /// The one who is taken is the answer (`onTake`).
    case one
    /// Those who are taken stand as chips before the field.
    case several
  }

  /// Who is offered.
  enum Offer {
    /// People the account has to do with, then everybody the server knows.
    case everybody
    /// The same; members of the room are shown as being there, and cannot be chosen.
    case outside(RoomID)
    /// Members of the room, with the account's own user.
    case members(RoomID)
  }

  /// Typing mostly goes on within this time; then the server is not asked yet.
  private static var pauseMilliseconds: Double { 150 }

  private let app: App<D>
  private let dom: D
  private let isOpen: () -> Bool
  private let purpose: Purpose
  private let name: String
  /// Whether people are offered before anything is typed.
  private let offersAtOnce: Bool
  private let room: RoomID?
  /// Of members of a room.
  private let crowd: Crowd<D>?
  private let field: Field<D>
  private let chips: Node
  private let list: Node
  /// Of everybody.
  private var contacts: PeopleFinder
  private var options: [(person: PeopleFinder.Person, hasDetail: Bool, node: Node)] = []
  private var marked: Int?
  /// Enter was pressed before the server answered.
  private var isWaitingToTake = false
  private var isSearching = false
  private var shownChips: [UserID] = []
  /// The text changed by typing.
  var onInput: () -> Void = {}
  /// Gets the one who was taken.
  var onTake: (UserID) -> Void = { _ in }

  /// - Parameters:
  ///   - name: of the list in the page, which may have several.
  ///   - isOpen: whether the place it stands in is still there.
  init(
    _ app: App<D>, _ purpose: Purpose, among offer: Offer = .everybody, _ label: Strings.Key, hint: Strings.Key? = nil,
    name: String, offersAtOnce: Bool = false, chosenLimit: Int = PeopleFinder.chosenLimit, at node: Node,
    isOpen: @escaping () -> Bool
  ) {
    self.app = app
    self.isOpen = isOpen
    self.purpose = purpose
    self.name = name
    self.offersAtOnce = offersAtOnce
    dom = app.dom
    switch offer {
    case .everybody:
      (room, crowd) = (nil, nil)
      contacts = PeopleFinder(own: app.userID, contacts: app.client.contacts(), chosenLimit: chosenLimit)
    case .outside(let id):
      (room, crowd) = (id, nil)
      contacts = PeopleFinder(
        own: app.userID, contacts: app.client.contacts(), present: app.client.room(id)?.memberIDs ?? [],
        chosenLimit: chosenLimit)
    case .members(let id):
      (room, crowd) = (id, Crowd(app, hasOwn: true, chosenLimit: chosenLimit))
      contacts = PeopleFinder(own: nil)
    }
    field = Field(dom, label, hint: hint, in: node)
    chips = dom.element("div", "ma-chips", in: node)
    dom.setAttribute(chips, "role", "group")
    dom.setLabel(chips, .people)
    list = dom.element("div", "ma-targets ma-people-found", in: node)
    dom.setAttribute(list, "id", name)
    dom.setAttribute(list, "role", "listbox")
    dom.setLabel(list, .people)
    for (key, value) in [("role", "combobox"), ("aria-controls", name), ("aria-autocomplete", "list")] {
      dom.setAttribute(field.input, key, value)
    }
    field.onInput = { [self] in typed() }
    dom.listen(field.input, .keyDown) { [self] in pressed($0) }
    crowd?.onChange = { [self] in
      guard self.isOpen(), areOthersFound else { return }
      show()
      dom.flush()
    }
    if offersAtOnce { gather() }
    show()
  }

  private var finder: PeopleFinder {
    get { crowd?.finder ?? contacts }
    _modify { if let crowd { yield &crowd.finder } else { yield &contacts } }
  }

  /// Reads the room's members, unless they are read.
  private func gather() {
    if let crowd, let state = room.flatMap({ app.client.room($0) }) { crowd.gather(state) }
  }

  var input: Node { field.input }
  /// Without white space around it.
  var text: String { field.text.trimmed }
  var chosen: [UserID] { finder.chosen.map { $0.userID } }

  /// Those who are offered at the moment.
  var offered: [UserID] { options.map { $0.person.userID } }

  /// What somebody who is offered is called; of others the ID.
  func name(of user: UserID) -> ByteString { options.first { $0.person.userID == user }?.person.name ?? user.text }

  func focus() { field.focus() }

  /// Chooses people who are known beforehand.
  func choose(_ people: [PeopleFinder.Person]) {
    finder.add(people)
    for person in people { finder.choose(person.userID) }
    show()
  }

  /// Members of the room are somebody else by now.
  func changed(_ users: [UserID]) { crowd?.changed(users) }

  /// Nothing is read any more.
  func close() { crowd?.forget() }

  func setError(_ error: String) {
    field.setError(error)
    field.focus()
  }

  /// Takes what is written to its end, where it is clear who is meant; else false, with an error that says what to do.
  func settle() -> Bool {
    crowd?.lookAtAll()
    switch purpose {
    case .one:
      if let user = PeopleFinder.user(in: ByteString(text)) {
        take(user)
      } else if let marked {
        take(marked)
      } else if isSearching {
        isWaitingToTake = true
      } else {
        refuse()
        return false
      }
      return true
    case .several:
      setText(finder.takeIDs(ByteString(text), isWhole: true).string)
      show()
      let free = options.indices.filter { canTake(options[$0].person) }
      if !text.utf8.isEmpty, free.count == 1 { take(free[0]) }
      if !text.utf8.isEmpty { refuse() }
      return text.utf8.isEmpty
    }
  }

  private func refuse() {
    setError(text.utf8.isEmpty || !options.isEmpty ? Strings[.personMissing] : Strings[.personNotFound, text])
    dom.flush()
  }

  private func setText(_ text: String) {
    field.set(text)
  }

  // MARK: Typing

  private func typed() {
    isWaitingToTake = false
    gather()
    let words = field.text
    if case .several = purpose {
      let left = finder.takeIDs(ByteString(words)).string
      if !left.hasSameBytes(as: words) { setText(left) }
    } else {
      finder.type(ByteString(words))
    }
    let version = finder.version
    isSearching = crowd == nil && finder.term != nil
    show()
    onInput()
    guard isSearching else { return }
    Host.after(milliseconds: Self.pauseMilliseconds) { [self] in
      if version == finder.version, isOpen(), let term = finder.term { search(term, version) }
    }
  }

  private func search(_ term: ByteString, _ version: Int) {
    app.ask(.searchUsers(term, limit: PeopleFinder.shownLimit)) { [self] result in
      guard isOpen(), version == finder.version else { return }
      isSearching = false
      let isTaking = isWaitingToTake
      isWaitingToTake = false
      switch result {
      case .success(let found):
        let people = found.users.map { PeopleFinder.Person($0.id, name: $0.displayName, avatar: $0.avatar) }
        guard finder.directoryAnswered(people, for: version) else { return }
        show()
        // Only if there is no doubt about who is meant.
        if isTaking, options.count == 1, let marked { return take(marked) }
        if options.isEmpty { field.setError(Strings[.personNotFound, text]) }
      case .failure(let error):
        // Those who are known without the server are still offered.
        if options.isEmpty { field.setError(Strings.words(for: error)) }
      }
    }
  }

  // MARK: What fits

  /// Those who fit now.
  private var found: [PeopleFinder.Person] { offersAtOnce || !text.utf8.isEmpty ? finder.found : [] }

  /// What distinguishes them from others with the same name.
  private func detail(of person: PeopleFinder.Person) -> String? {
    finder.sharesName(person) ? person.userID.string : nil
  }

  /// Whether others are shown than fit now.
  private var areOthersFound: Bool {
    let found = found
    return found.count != options.count || shownChips != chosen
      || zip(found, options).contains { $0 != $1.person || (detail(of: $0) != nil) != $1.hasDetail }
  }

  private func show() {
    let kept = marked.map { options[$0].person.userID }
    dom.releaseChildren(of: list)
    options = []
    for (index, person) in found.enumerated() {
      let option = dom.element("div", "ma-target", in: list)
      let id = person.userID.string
      let isPresent = finder.isPresent(person.userID)
      dom.setAttribute(option, "role", "option")
      dom.setAttribute(option, "id", "\(name)-\(index)")
      let detail = detail(of: person)
      dom.fill(option, id: id, person.name.string, detail, source: app.avatarSource(person.avatar))
      if isPresent {
        dom.setAttribute(option, "aria-disabled", "true")
        let isInvited = room.flatMap { app.client.room($0)?.membership(of: person.userID) } == .invite
        dom.element("span", "ma-note", text: isInvited ? .isInvited : .inRoomAlready, in: option)
      } else {
        dom.on(option, .click) { [self] _ in take(index) }
      }
      options.append((person, detail != nil, option))
    }
    // The marked person stays marked when more people load.
    marked = options.firstIndex { $0.person.userID == kept && canTake($0.person) } ?? options.firstIndex { canTake($0.person) }
    // Nobody is marked in a list of suggestions before the user types.
    if text.utf8.isEmpty { marked = nil }
    dom.setFlag(list, "hidden", options.isEmpty)
    dom.setAttribute(field.input, "aria-expanded", options.isEmpty ? "false" : "true")
    if !options.isEmpty { field.setError(nil) }
    mark()
    if shownChips != chosen { showChips() }
  }

  private func canTake(_ person: PeopleFinder.Person) -> Bool { !finder.isPresent(person.userID) }

  private func mark() {
    for (index, option) in options.enumerated() {
      dom.setAttribute(option.node, "aria-selected", index == marked ? "true" : "false")
    }
    if let marked {
      dom.setAttribute(field.input, "aria-activedescendant", "\(name)-\(marked)")
    } else {
      dom.removeAttribute(field.input, dom.atom("aria-activedescendant"))
    }
  }

  private func showChips() {
    shownChips = chosen
    dom.releaseChildren(of: chips)
    for person in finder.chosen {
      dom.chip(person.name.string, in: chips) { [self] in
        finder.remove(person.userID)
        show()
        field.focus()
        dom.flush()
      }
    }
  }

  // MARK: Choosing

  private func pressed(_ event: PageEvent) -> EventReply {
    guard !event.modifiers.contains(.composing) else { return .pass }
    switch event.key {
    case .arrowDown: move(by: 1)
    case .arrowUp: move(by: -1)
    case .enter where marked != nil:
      if let marked { take(marked) }
      return .preventDefault
    case .backspace where field.text.utf8.isEmpty && !finder.chosen.isEmpty:
      finder.removeLast()
      show()
      dom.flush()
      return .pass
    default: return .pass
    }
    mark()
    dom.flush()
    return .preventDefault
  }

  private func move(by step: Int) {
    let free = options.indices.filter { canTake(options[$0].person) }
    guard !free.isEmpty else { return }
    guard let marked, let at = free.firstIndex(of: marked) else { return self.marked = step > 0 ? free.first : free.last }
    self.marked = free[(at + step + free.count) % free.count]
  }

  private func take(_ index: Int) {
    guard options.indices.contains(index), canTake(options[index].person) else { return }
    take(options[index].person.userID)
    dom.flush()
  }

  private func take(_ user: UserID) {
    switch purpose {
    case .one:
      onTake(user)
      if crowd != nil { clear() }
    case .several:
      finder.choose(user)
      clear()
      onInput()
      field.focus()
    }
  }

  private func clear() {
    setText("")
    finder.type("")
    field.setError(nil)
    show()
  }
}
