import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords

/// Several conversations at once: read, out of the way, or left.
final class ManyRoomsDialog<D: DOM> {
  private let app: App<D>
  private let frame: DialogFrame<D>
  private let list: Node
  private let trouble: Node
  private let rooms: [RoomID]
  private var isChosen: [Bool]

  /// - Parameter chosen: the room it begins with.
  @discardableResult
  init(_ app: App<D>, chosen: RoomID, in frame: DialogFrame<D>) {
    self.app = app
    self.frame = frame
    rooms = (app.main?.shownRooms ?? []).filter { app.client.room($0)?.membership == .join }
    isChosen = rooms.map { $0 == chosen }
    let dom = app.dom
    frame.setTitle(.chooseSeveral)
    let whole = dom.element("div", "ma-form", in: frame.body)
    list = dom.element("div", "ma-form", in: frame.body)
    trouble = frame.trouble(in: frame.body)
    let buttons = dom.element("div", "ma-buttons", in: frame.body)
    frame.setFirst(
      dom.check(Strings[.allConversations], isOn: false, in: whole) { [self] isOn in
        for index in rooms.indices { isChosen[index] = isOn }
        show()
        dom.flush()
      })
    add(Strings[.markRead], in: buttons) { [self] in end($0.map { .reading(.markRead($0)) }) }
    if app.client.offeredExtensions?.contains(.hide) ?? false { add(Strings[.hideRoom], in: buttons) { [self] in hide($0) } }
    add(Strings[.leave], kind: "ma-danger", in: buttons) { [self] in askLeave($0) }
    show()
  }

  private func show() {
    app.dom.releaseChildren(of: list)
    for (index, id) in rooms.enumerated() {
      guard let room = app.client.room(id) else { continue }
      app.dom.check(Strings.words(for: room.name), isOn: isChosen[index], in: list) { [self] in isChosen[index] = $0 }
    }
  }

  private func add(_ words: String, kind: String = "", in parent: Node, _ run: @escaping ([RoomID]) -> Void) {
    let button = app.dom.button("ma-button " + kind, words, in: parent)
    app.dom.on(button, .click) { [self] _ in
      var wanted: [RoomID] = []
      for (index, room) in rooms.enumerated() where isChosen[index] { wanted.append(room) }
      if !wanted.isEmpty { return run(wanted) }
      app.dom.setText(trouble, .nothingChosen)
      app.dom.flush()
    }
  }

  private func end(_ commands: [Command]) {
    frame.close()
    for command in commands { app.askOrSay(command) }
  }

  private func hide(_ rooms: [RoomID]) {
    frame.close()
    app.ask(.setHidden(true, rooms: rooms)) { [app] result in
      if case .failure(let error) = result { return app.notices.show(Strings.words(for: error), isTrouble: true) }
      app.notices.show(.hidden)
    }
  }

  private func askLeave(_ rooms: [RoomID]) {
    app.dialogs.open { question in
      let dom = app.dom
      question.setTitle(Strings[.leaveRooms, count: rooms.count])
      dom.element("p", "ma-note", text: .leaveNote, in: question.body)
      let buttons = dom.element("div", "ma-buttons", in: question.body)
      let cancel = dom.button("ma-button", .cancel, in: buttons)
      let leave = dom.button("ma-button ma-danger", .leave, in: buttons)
      question.setFirst(cancel)
      dom.on(cancel, .click) { _ in question.close() }
      dom.on(leave, .click) { [self] _ in
        question.close()
        if let open = app.place.room, rooms.contains(open) { app.goTo(.list, replacing: true) }
        guard app.client.offeredExtensions?.contains(.bulk) ?? false else { return end(rooms.map { .rooms(.leave($0)) }) }
        frame.close()
        app.dialogs.open { LeavingDialog(app, rooms, in: $0) }
      }
    }
  }
}
