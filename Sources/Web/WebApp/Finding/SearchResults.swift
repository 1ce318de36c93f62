import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// What the box above the list finds: rooms, people, messages and public rooms, each in a group of its own. What the account knows stands
/// there with each letter; the server is asked once typing pauses. Source: ARIA Authoring Practices, "Combobox".
final class SearchResults<D: DOM> {
  private static var pauseMilliseconds: Double { 250 }
  /// Messages, and public rooms, that are shown at first.
  private static var messagesLimit: Int { 5 }
  private static var publicLimit: Int { 5 }
  /// Fewer bytes than these are in too many messages.
  private static var messageBytes: Int { 2 }

  /// Called to leave the search.
  var onEnd: () -> Void = {}
  private let app: App<D>
  private let dom: D
  private let node: Node
  private let field: Node
  private let note: Node
  private let rooms: SearchGroup<D>
  private let people: SearchGroup<D>
  private let messages: SearchGroup<D>
  private let publicRooms: SearchGroup<D>
  private var finder: MessageFinder<D>?
  private var targets: TargetFinder<D>?
  private var listed: [TargetFinder<D>.Target] = []
  /// In the order in which they stand.
  private var groups: [SearchGroup<D>] = []
  private var words = ""
  /// Counts what was typed: an answer to something else comes too late.
  private var version = 0
  private var marked: Node?
  /// There was no connection when the server was to be asked.
  private var isCut = false
  private var isBusy = false

  /// - Parameters:
  ///   - field: in which is typed.
  ///   - parent: hidden while nothing is.
  init(_ app: App<D>, of field: Node, in parent: Node) {
    self.app = app
    self.field = field
    node = parent
    dom = app.dom
    note = dom.element("p", "ma-note ma-trouble", in: node)
    dom.setAttribute(note, "role", "status")
    rooms = SearchGroup(dom, .rooms, name: "ma-found-rooms", in: node)
    people = SearchGroup(dom, .people, name: "ma-found-people", in: node)
    messages = SearchGroup(dom, .messages, name: "ma-found-messages", in: node)
    publicRooms = SearchGroup(dom, .publicRooms, name: "ma-found-public", in: node)
    groups = [rooms, people, messages, publicRooms]
    dom.setAttribute(field, "aria-controls", "ma-found-rooms ma-found-people ma-found-messages ma-found-public")
    finder = MessageFinder(
      app, in: messages.node, list: messages.list, pageMessages: Self.messagesLimit, emptyNote: .nothingFound
    ) { [self] message, parts, sibling in
      parts.map { show($0, message, before: sibling) }.first ?? .none
    }
  }

  // MARK: Typing

  /// Looks for that; without words nothing is shown.
  @inline(never)
  func type(_ words: String) {
    guard !words.hasSameBytes(as: self.words) else { return }
    self.words = words
    version += 1
    mark(nil)
    dom.setText(note, "")
    dom.setAttribute(field, "aria-expanded", words.utf8.isEmpty ? "false" : "true")
    guard !words.utf8.isEmpty else { return end() }
    let known = targets ?? TargetFinder(app, hasSpaces: true)
    targets = known
    known.onMore = { [self] in showMoreTargets() }
    known.type(words)
    showTargets()
    let asked = version
    Host.after(milliseconds: Self.pauseMilliseconds) { [self] in if asked == version { ask() } }
  }

  /// Nothing is looked for any more; people and rooms may be others the next time.
  private func end() {
    targets?.close()
    targets = nil
    finder?.close()
    for group in groups {
      clear(group)
      group.setHidden(true)
    }
    markFirst()
  }

  /// What could not be asked is asked as soon as there is a connection.
  @inline(never)
  func connectionChanged() { if isCut, !words.utf8.isEmpty, app.client.connectionIsRunning { ask() } }

  private func ask() {
    isCut = !app.client.connectionIsRunning
    let isLong = words.utf8.count >= Self.messageBytes
    clear(messages)
    messages.setHidden(!isLong)
    markFirst()
    var sought = SoughtMessages()
    sought.words = isLong ? words : ""
    finder?.begin(sought)
    let asked = version
    app.ask(.publicRooms(matching: ByteString(words), limit: Self.publicLimit)) { [self] result in
      guard asked == version else { return }
      clear(publicRooms)
      // The messages say it if there is no connection.
      if case .success(let page) = result { for room in page.rooms { show(room) } }
      publicRooms.setHidden(publicRooms.options.isEmpty)
      markFirst()
    }
    dom.flush()
  }

  // MARK: What is found

  private func showTargets() {
    clear(rooms)
    clear(people)
    listed = []
    showLink()
    let isLink = !rooms.options.isEmpty
    // The best of all stands first.
    order(!isLink && targets?.lines.first?.isPerson ?? false ? [people, rooms] : [rooms, people])
    showMoreTargets()
  }

  private func order(_ first: [SearchGroup<D>]) {
    groups = first + [messages, publicRooms]
    for group in first { dom.insert(group.node, into: node, before: messages.node) }
  }

  /// Those who are there stay where they are, under the hand that is about to take one.
  private func showMoreTargets() {
    for line in targets?.lines ?? [] where !listed.contains(line.target) {
      listed.append(line.target)
      show(line)
    }
    for group in [rooms, people] { group.setHidden(group.options.isEmpty) }
    markFirst()
  }

  private func show(_ line: TargetFinder<D>.Line) {
    let option = (line.isPerson ? people : rooms).add("ma-target") { [self] in go(to: line.target) }
    dom.fill(option, id: line.id, line.name, line.detail, source: app.avatarSource(line.avatar))
    if line.count > 0 { dom.element("span", "ma-badge", text: RoomListEntry<D>.number(line.count), in: option) }
  }

  /// A room by its address, or by a link to it.
  private func showLink() {
    let text = ByteString(words)
    guard let link = Permalink(text) ?? RoomAlias(text).map({ Permalink(.alias($0)) }) else { return }
    // People are found by theirs.
    if case .user = link.target { return }
    let option = rooms.add("ma-target") { [self] in
      leave()
      app.showInvite(to: link)
    }
    Drawing.link.draw(dom, in: option)
    dom.element("span", "ma-entry-name", text: Strings[.openRoom, of: words], in: option)
  }

  private func show(_ part: MessageContent, _ message: FoundMessage, before sibling: Node) -> Node {
    let option = messages.add("ma-result", before: sibling) { [self] in
      // The others stay: the message may not be the one that was meant.
      app.follow(Destination(Permalink(.room(message.room), event: message.id)))
    }
    if let state = app.client.room(message.room) {
      dom.element("span", "ma-result-name", text: Strings.words(for: state.name), in: option)
    }
    dom.element("span", "ma-result-name", text: app.words(of: message), in: option)
    dom.mark(words, in: dom.element("span", "ma-result-text", text: part.body.string, in: option))
    markFirst()
    return option
  }

  private func show(_ room: RoomSummary) {
    guard app.client.room(room.id)?.membership != .join else { return }
    let option = publicRooms.add("ma-target") { [self] in
      leave()
      app.goTo(.room(room.id))
    }
    dom.fill(option, id: room.id.string, room.title, room.about, source: app.avatarSource(room.avatar))
  }

  // MARK: Choosing

  private var options: [SearchGroup<D>.Option] { groups.flatMap { $0.options } }

  @inline(never)
  func pressed(_ event: PageEvent) -> EventReply {
    guard !event.modifiers.contains(.composing), !words.utf8.isEmpty else { return .pass }
    let options = options
    let at = options.firstIndex { $0.node == marked }
    switch event.key {
    case .arrowDown where !options.isEmpty: mark(options[at.map { ($0 + 1) % options.count } ?? 0].node)
    case .arrowUp where !options.isEmpty: mark(options[((at ?? 0) + options.count - 1) % options.count].node)
    case .enter:
      if let at { options[at].choose() }
    case .escape: leave()
    default: return .pass
    }
    dom.flush()
    return .preventDefault
  }

  private func go(to target: TargetFinder<D>.Target) {
    switch target {
    case .room(let room):
      leave()
      app.goTo(.room(room))
    case .person(let user): startChat(with: user)
    }
  }

  private func startChat(with user: UserID) {
    guard !isBusy else { return }
    isBusy = true
    let asked = version
    app.ask(.rooms(.openDirectChat(with: user.text))) { [self] result in
      isBusy = false
      switch result {
      case .room(let room):
        leave()
        app.goTo(.room(room))
      case .failed(let error): if asked == version { dom.setText(note, Strings.words(for: error)) }
      default: break
      }
    }
    dom.flush()
  }

  private func leave() {
    type("")
    onEnd()
  }

  // MARK: The one that Enter takes

  private func clear(_ group: SearchGroup<D>) {
    if let option = marked, group.id(of: option) != nil { marked = nil }
    group.clear()
  }

  private func markFirst() {
    let options = options
    if marked == nil { mark(options.first?.node) }
  }

  private func mark(_ option: Node?) {
    if let marked { dom.setAttribute(marked, "aria-selected", "false") }
    marked = option
    guard let option, let id = groups.lazy.compactMap({ $0.id(of: option) }).first else {
      return dom.removeAttribute(field, dom.atom("aria-activedescendant"))
    }
    dom.setAttribute(option, "aria-selected", "true")
    dom.setAttribute(field, "aria-activedescendant", id)
  }
}
