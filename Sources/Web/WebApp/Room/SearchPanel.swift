import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// Looks for messages on the server: of one room, or of all; by words, by who said it, by what it is, by when.
final class SearchPanel<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let room: RoomID
  private let field: Field<D>
  private var sender: PeoplePicker<D>?
  private let kind: Choice<D>
  private let since: Field<D>
  private let until: Field<D>
  private let chips: Node
  private let found: (RoomID, EventID) -> Void
  private var finder: MessageFinder<D>?
  private var isOpen = true
  private var sought = SoughtMessages()
  /// Begins the search when one stops typing.
  private var pause: HostTask?
  private static var pauseMilliseconds: Double { 400 }

  init(_ app: App<D>, _ room: RoomID, in parent: Node, _ found: @escaping (RoomID, EventID) -> Void) {
    self.app = app
    self.room = room
    self.found = found
    dom = app.dom
    sought.room = room
    let form = dom.element("form", "ma-search", in: parent)
    dom.setAttribute(form, "role", "search")
    field = Field(dom, .searchFor, kind: "search", in: form)
    let narrowing = dom.element("details", "ma-narrowing", in: form)
    dom.element("summary", "ma-link", text: .narrowSearch, in: narrowing)
    let speakers = dom.element("div", in: narrowing)
    kind = Choice(
      dom, Strings[.onlyKind], SoughtMessages.Kind.allCases.map { ("\($0.rawValue)", Strings[$0.words]) }, selected: "0",
      in: narrowing)
    since = Field(dom, .sinceDay, kind: "date", in: narrowing)
    until = Field(dom, .untilDay, kind: "date", in: narrowing)
    chips = dom.element("div", "ma-chips", in: form)
    // Without such a button Enter does nothing in a form of several fields.
    dom.setFlag(dom.button("", submits: true, in: form), "hidden", true)
    finder = MessageFinder(app, in: parent, emptyNote: .nothingFound) { [self] message, parts, sibling in
      parts.map { show($0, message, before: sibling) }.first ?? .none
    }
    if app.embedding == nil {
      CheckBox(dom, Strings[.everywhere], isOn: false, in: form) { [self] in
        sought.room = $0 ? nil : room
        begin()
      }
    }
    dom.on(form, .submit) { [self] _ in
      // Somebody who is written to the end is meant.
      if let sender, !sender.text.utf8.isEmpty, sender.settle() { return }
      begin()
    }
    sender = PeoplePicker(app, .one, among: .members(room), .saidBy, hint: .saidByHint, name: "ma-speakers", at: speakers) {
      [self] in isOpen
    }
    sender?.onTake = { [self] user in
      sought.sender = user
      begin()
    }
    kind.onChange = { [self] in
      sought.kind = SoughtMessages.Kind(rawValue: Int($0) ?? 0) ?? .all
      begin()
    }
    since.onInput = { [self] in
      let new = day(since) ?? .min
      guard new != sought.since else { return }
      sought.since = new
      begin()
    }
    until.onInput = { [self] in
      let new = day(until, after: 1) ?? .max
      guard new != sought.until else { return }
      sought.until = new
      begin()
    }
    field.onInput = { [self] in
      pause?.cancel()
      pause = Host.after(milliseconds: Self.pauseMilliseconds) { [self] in
        guard isOpen, !sought.words.hasSameBytes(as: field.text.trimmed) else { return }
        begin()
        dom.flush()
      }
    }
    dom.focus(field.input)
  }

  /// Members of the room are somebody else by now.
  func membersChanged(_ users: [UserID]) { sender?.changed(users) }

  func close() {
    isOpen = false
    pause?.cancel()
    sender?.close()
    finder?.close()
  }

  func begin(_ words: String) {
    field.set(words)
    begin()
  }

  private func begin() {
    pause?.cancel()
    sought.words = field.text.trimmed
    showChips()
    finder?.begin(sought)
  }

  /// When the chosen day begins. nil while the year is not written to its end.
  private func day(_ field: Field<D>, after days: Int = 0) -> Int64? {
    CalendarDay(field.text).flatMap { $0.number < 0 ? nil : Host.startOfDay($0.number + days) }
  }

  // MARK: What narrows, each to be taken away

  private func showChips() {
    dom.releaseChildren(of: chips)
    if let user = sought.sender {
      let name = app.client.room(room)?.displayName(of: user).string ?? user.string
      chip(Strings[.saidBy, of: name]) { [self] in sought.sender = nil }
    }
    if sought.kind != .all {
      chip(Strings[sought.kind.words]) { [self] in
        sought.kind = .all
        kind.set("0")
      }
    }
    if sought.since != .min {
      chip(Strings[.sinceDay, of: Host.dayLabel(sought.since)]) { [self] in
        sought.since = .min
        since.set("")
      }
    }
    if sought.until != .max {
      chip(Strings[.untilDay, of: Host.dayLabel(sought.until - 1)]) { [self] in
        sought.until = .max
        until.set("")
      }
    }
  }

  private func chip(_ words: String, _ remove: @escaping () -> Void) {
    dom.chip(words, in: chips) { [self] in
      remove()
      begin()
      dom.focus(field.input)
      dom.flush()
    }
  }

  // MARK: What is found

  private func show(_ part: MessageContent, _ message: FoundMessage, before sibling: Node) -> Node {
    guard let list = finder?.list else { return .none }
    let entry = dom.button("ma-result", in: list)
    if sibling != .none { dom.insert(entry, into: list, before: sibling) }
    let state = app.client.room(message.room)
    if sought.room == nil, let state { dom.element("span", "ma-result-name", text: Strings.words(for: state.name), in: entry) }
    dom.element("span", "ma-result-name", text: app.words(of: message), in: entry)
    let text = dom.element("span", "ma-result-text", text: part.body.string, in: entry)
    if !sought.words.utf8.isEmpty { dom.mark(sought.words, in: text) }
    dom.on(entry, .click) { [self] _ in found(message.room, message.id) }
    return entry
  }
}

extension App {
  /// Who sent it and when.
  func words(of event: Event, in room: RoomID) -> String {
    event.sender.map { words(of: $0, at: event.originServerTimestamp ?? 0, in: room) } ?? ""
  }

  func words(of message: FoundMessage) -> String {
    words(of: message.sender, at: message.timestampMilliseconds, in: message.room)
  }

  private func words(of sender: UserID, at milliseconds: Int64, in room: RoomID) -> String {
    let name = client.room(room)?.displayName(of: sender).string ?? sender.string
    return name + " · " + Host.shortLabel(milliseconds)
  }
}
