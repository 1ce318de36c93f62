import ClientCore
import ClientHost
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// The rooms that a server, or a space, shows to those who are not in them.
final class RoomDirectory<D: DOM> {
  private static var pageSize: Int { 20 }
  private static var pauseMilliseconds: Double { 300 }

  /// Where the rooms are listed.
  enum Source {
    case server
    case space(RoomID)
    /// Only rooms of the space that the user can join.
    case toJoin(RoomID)

    var space: RoomID? {
      switch self {
      case .server: nil
      case .space(let space), .toJoin(let space): space
      }
    }
  }

  private let app: App<D>
  private let dom: D
  /// The dialog that it stands in; without one it is part of a page.
  private let frame: DialogFrame<D>?
  private var isClosed = false
  private let source: Source
  private let node: Node
  private let list: Node
  private let more: MoreButton<D>
  private var search: Field<D>?
  private var server: Field<D>?
  private let note: Node
  private var words = ""
  private var next: ByteString?
  private var version = 0
  private var isLoaded = false
  private var listed: [RoomID] = []
  /// The rooms of the space that the list was made of.
  private var children: [RoomID] = []
  /// Called with the number of rooms that are listed.
  var onLoad: (Int) -> Void = { _ in }

  init(_ app: App<D>, _ source: Source, in frame: DialogFrame<D>? = nil, at parent: Node) {
    node = parent
    self.app = app
    self.frame = frame
    self.source = source
    dom = app.dom
    if let space = source.space { children = app.client.spaces.children(of: space) }
    if case .server = source {
      search = Field(dom, .searchRooms, kind: "search", in: parent)
      server = Field(dom, .serverAddress, kind: "search", hint: .directoryHint, in: parent)
    }
    server?.setHidden(true)
    list = dom.element("div", "ma-directory", in: parent)
    dom.setAttribute(list, "role", "list")
    dom.setLabel(list, .publicRooms)
    note = dom.element("p", "ma-note", in: parent)
    dom.setAttribute(note, "role", "status")
    more = MoreButton(dom, busy: .loadingRoomList, in: parent)
    search?.onInput = { [self] in
      words = search?.text.trimmed ?? ""
      reload()
    }
    server?.onInput = { [self] in reload() }
    more.onPress = { [self] in load() }
  }

  /// Asks the server the first time it is looked at.
  func setHidden(_ isHidden: Bool) {
    dom.setFlag(node, "hidden", isHidden)
    if !isHidden, !isLoaded { load() }
  }

  /// What is on the way is dropped.
  func close() { isClosed = true }

  private var isShown: Bool { !isClosed && frame?.isOpen ?? true }

  /// The space has other rooms by now, or the user has joined one of those that are to join.
  func followSpace() {
    guard let space = source.space else { return }
    let now = app.client.spaces.children(of: space)
    guard now != children || isOutdated else { return }
    children = now
    reload()
  }

  func reload() {
    version += 1
    let asked = version
    Host.after(milliseconds: Self.pauseMilliseconds) { [self] in
      guard asked == version, isShown else { return }
      next = nil
      load()
    }
  }

  private func load() {
    let asked = version
    let isFirst = next == nil
    let other = otherServer
    if other == nil, server?.text.trimmed.utf8.isEmpty == false {
      dom.setText(note, .serverAddressWrong)
      return dom.flush()
    }
    if !isLoaded { offerServers() }
    isLoaded = true
    more.begin()
    dom.setText(note, isFirst && !more.isShown ? Strings[.loadingRoomList] : "")
    switch source {
    case .server:
      let term = words.utf8.isEmpty ? nil : ByteString(words)
      app.ask(.publicRooms(matching: term, on: other, limit: Self.pageSize, since: next)) { [self] result in
        if case .success(let page) = result {
          loaded(page.rooms, page.nextBatch, asked, isFirst)
        } else {
          failed(result, asked)
        }
      }
    case .space(let space), .toJoin(let space):
      app.ask(.hierarchy(of: space, maxDepth: 1, limit: Self.pageSize, from: next)) { [self] result in
        if case .success(let page) = result {
          let rooms = page.entries.map { $0.room }.filter { $0.id != space && isListed($0) }
          loaded(rooms, page.nextBatch, asked, isFirst)
        } else {
          failed(result, asked)
        }
      }
    }
    dom.flush()
  }

  /// Offers rooms of other servers if the user's server federates.
  private func offerServers() {
    guard let server else { return }
    app.ask(.versions()) { [self] result in
      if isShown, case .success(let versions) = result { server.setHidden(versions.has("martlet.no_federation")) }
    }
  }

  /// The server whose rooms are listed; nil for the user's own.
  private var otherServer: ServerName? { server.flatMap { ServerName(ByteString($0.text.trimmed)) } }

  private func isListed(_ room: RoomSummary) -> Bool {
    guard case .toJoin = source else { return true }
    return app.client.room(room.id)?.membership != .join && wayIn(room) != nil
  }

  private func failed<Answer>(_ result: Result<Answer, ClientError>, _ asked: Int) {
    guard asked == version, isShown, case .failure(let error) = result else { return }
    more.fail()
    dom.setText(note, Strings.words(for: error))
  }

  private func loaded(_ rooms: [RoomSummary], _ next: ByteString?, _ asked: Int, _ isFirst: Bool) {
    guard asked == version, isShown else { return }
    if isFirst {
      dom.releaseChildren(of: list)
      listed = []
    }
    for room in rooms { add(room) }
    listed += rooms.map { $0.id }
    self.next = next
    more.end(hasMore: next != nil)
    dom.setText(note, listed.isEmpty ? Strings[.noPublicRooms] : "")
    onLoad(listed.count)
  }

  /// Whether the user has joined one of those that are to join since.
  private var isOutdated: Bool {
    guard case .toJoin = source else { return false }
    return listed.contains { app.client.room($0)?.membership == .join }
  }

  // MARK: One room

  private func add(_ room: RoomSummary) {
    let line = dom.element("div", "ma-listed", in: list)
    dom.setAttribute(line, "role", "listitem")
    let title = room.title
    dom.fill(line, id: room.id.string, title, room.about, source: app.avatarSource(room.avatar))
    addButton(room, title, in: line)
    guard case .space(let space) = source, app.may(.sendState(.spaceChild), in: space) else { return }
    let more = dom.button("ma-round", icon: .more, label: Strings[.optionsOf, title], in: line)
    dom.on(more, .click) { [self] _ in openMenu(of: room.id, title, space) }
  }

  /// Where a room stands in the space.
  private func openMenu(of room: RoomID, _ title: String, _ space: RoomID) {
    app.dialogs.open(as: .menu) { [self] frame in
      let menu = Menu(title, in: frame)
      let children = app.client.room(space)?.spaceChildren ?? []
      let index = children.firstIndex { $0.roomID == room }
      for (words, icon, step) in [(Strings.Key.moveUp, Drawing.up, -1), (.moveDown, .down, 1)] {
        guard let index, children.indices.contains(index + step) else { continue }
        menu.add(words, icon) { [self] in
          for (child, order) in app.client.spaceOrders(toMove: room, to: index + step, in: space) {
            app.askOrSay(.spaces(.setChild(child, in: space, SpaceChildChange(order: order)))) { [self] in reload() }
          }
        }
      }
      menu.divide()
      menu.add(Strings[.takeOut, title], .close, isDangerous: true) { [self] in
        app.askOrSay(.spaces(.removeChild(room, from: space))) { [self] in reload() }
      }
    }
  }

  private func addButton(_ room: RoomSummary, _ title: String, in line: Node) {
    if app.client.room(room.id)?.membership == .join {
      let open = dom.button("ma-button ma-small", .openRoom, in: line)
      dom.setLabel(open, Strings[.openRoom, of: title])
      return dom.on(open, .click) { [app] _ in app.goTo(.room(room.id)) }
    }
    guard let words = wayIn(room) else { return }
    let button = SubmitButton(dom, words, busy: .joining, kind: "ma-primary ma-small", in: line)
    dom.setAttribute(button.node, "type", "button")
    dom.setLabel(button.node, Strings[words, of: title])
    dom.on(button.node, .click) { [self] _ in
      guard !button.isBusy else { return }
      dom.setText(note, "")
      if words == .askToJoin {
        knock(room, button)
      } else {
        join(room, button)
      }
    }
  }

  /// How the user gets into a room; nil where only an invitation helps.
  private func wayIn(_ room: RoomSummary) -> Strings.Key? {
    let rule = room.joinRule
    if rule == .public || rule?.allowsRestrictedJoins ?? false || app.client.room(room.id)?.membership == .invite {
      return .join
    }
    return rule?.allowsKnocking ?? false ? .askToJoin : nil
  }

  private func join(_ room: RoomSummary, _ button: SubmitButton<D>) {
    let command = Command.rooms(.join(address(of: room), via: otherServer.map { [$0] } ?? []))
    if let frame { return frame.enterRoom(app, by: command, button, note) }
    button.setBusy(true)
    app.ask(command) { [self] result in
      if case .room(let id) = result { app.goTo(.room(id)) }
      guard isShown, case .failed(let error) = result else { return }
      button.setBusy(false)
      dom.setText(note, Strings.words(for: error))
    }
    dom.flush()
  }

  /// The alias leads to a server that has the room.
  private func address(of room: RoomSummary) -> ByteString { room.canonicalAlias?.text ?? room.id.text }

  private func knock(_ room: RoomSummary, _ button: SubmitButton<D>) {
    button.setBusy(true)
    app.ask(.knock(address(of: room))) { [self] result in
      guard isShown else { return }
      button.setBusy(false)
      if case .failure(let error) = result { return dom.setText(note, Strings.words(for: error)) }
      button.setEnabled(false)
      button.set(.asked, busy: .asked)
      dom.setLabel(button.node, .asked)
    }
    dom.flush()
  }
}

extension RoomSummary {
  /// The room's name, or the readable part of its address. Never a raw address or ID.
  var title: String { name?.string ?? canonicalAlias?.localpart.string ?? Strings[.unnamedRoom] }

  /// The number of its members, and its topic.
  var about: String {
    let members = Strings[.members, count: memberCount]
    return topic.map { members + " · " + $0.string } ?? members
  }
}
