import ClientCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// What can be done with a room from the list; opened by its context menu or its button.
struct RoomMenu<D: DOM> {
  private let app: App<D>
  private let id: RoomID
  private let frame: DialogFrame<D>

  @discardableResult
  init(_ app: App<D>, _ id: RoomID, in frame: DialogFrame<D>) {
    self.app = app
    self.id = id
    self.frame = frame
    guard let room = app.client.room(id) else { return }
    frame.setTitle(Strings.words(for: room.name), classes: "ma-dialog ma-menu")
    switch room.membership {
    case .join: addAll(room)
    case .invite: add(Strings[.decline], isFirst: true) { [self] in leave() }
    case .leave, .ban: add(Strings[.forget], isFirst: true) { [self] in ask(.rooms(.forget(id))) { [self] in left() } }
    case .knock: add(Strings[.withdrawRequest], isFirst: true) { [self] in leave() }
    }
  }

  private func addAll(_ room: Room) {
    let (isFavourite, isLow) = (room.isFavourite, room.isLowPriority)
    add(isFavourite ? Strings[.noFavourite] : Strings[.makeFavourite], isFirst: true) { [self] in
      set(RoomTag.favourite, !isFavourite, without: isLow ? RoomTag.lowPriority : nil)
    }
    if isFavourite { addMoves() }
    add(isLow ? Strings[.noLowPriority] : Strings[.makeLowPriority]) { [self] in
      set(RoomTag.lowPriority, !isLow, without: isFavourite ? RoomTag.favourite : nil)
    }
    if room.isUnread {
      add(Strings[.markRead]) { [app] in app.markAsRead(room) }
      add(Strings[.whyUnread]) { [self] in
        app.ask(.reading(.explainUnread(id))) { [app] result in
          if case .unread(let evidence) = result { UnreadDialog(app, room, evidence) }
        }
      }
    } else {
      add(Strings[.markUnread]) { [self] in ask(.reading(.markUnread(id, true))) }
    }
    if room.isHidden {
      add(Strings[.showAgain]) { [app, id] in app.askOrSay(.unhide(id)) }
    } else if app.client.offeredExtensions?.contains(.hide) ?? false {
      add(Strings[.hideRoom]) { [app, id] in
        app.askOrSay(.hide(id)) { [app] in
          app.notices.show(.hidden)
          if app.place.room == id { app.goTo(.list, replacing: true) }
        }
      }
    }
    NotificationChoice(app, id, in: app.dom.element("div", "ma-menu-part", in: frame.body)) { [frame] in frame.isOpen }
    add(Strings[.details]) { [self] in app.goTo(.details(id)) }
    add(Strings[.chooseSeveral]) { [app, id] in app.dialogs.open { ManyRoomsDialog(app, chosen: id, in: $0) } }
    add(Strings[.leave], isDangerous: true) { [self] in
      app.dialogs.open {
        ConfirmDialog(
          app, .leaveQuestion, note: Strings[.leaveNote], action: .leave, busy: .leaving, .rooms(.leave(id)),
          in: $0
        ) { [self] in left() }
      }
    }
  }

  /// Within the favourites.
  private func addMoves() {
    let all = app.client.rooms(tagged: RoomTag.favourite)
    guard let index = all.firstIndex(of: id) else { return }
    for (place, words) in [(index - 1, Strings.Key.moveUp), (index + 1, .moveDown)] where all.indices.contains(place) {
      add(Strings[words]) { [self] in
        for (room, order) in app.client.tagOrders(toMove: id, to: place, tag: RoomTag.favourite) {
          ask(.rooms(.setTag(room, RoomTag(RoomTag.favourite, order: order))))
        }
      }
    }
  }

  private func add(_ text: String, isFirst: Bool = false, isDangerous: Bool = false, _ run: @escaping () -> Void) {
    let button = app.dom.button(isDangerous ? "ma-menu-item ma-menu-danger" : "ma-menu-item", text, in: frame.body)
    if isFirst { frame.setFirst(button) }
    app.dom.on(button, .click) { [frame] _ in
      frame.close()
      run()
    }
  }

  private func set(_ tag: ByteString, _ isOn: Bool, without other: ByteString?) {
    ask(isOn ? .rooms(.setTag(id, RoomTag(tag))) : .rooms(.removeTag(id, tag)))
    if isOn, let other { ask(.rooms(.removeTag(id, other))) }
  }

  private func leave() { ask(.rooms(.leave(id))) { [self] in left() } }

  private func left() { if app.place.room == id { app.goTo(.list, replacing: true) } }

  private func ask(_ command: Command, _ then: (() -> Void)? = nil) {
    app.ask(command) { [app] result in
      if case .failed(let error) = result { app.notices.show(Strings.words(for: error), isTrouble: true) } else { then?() }
    }
  }
}

/// What of a room one is told of.
struct NotificationChoice<D: DOM> {
  private let isThere: () -> Bool

  /// - Parameter isThere: whether it still is when an answer comes.
  @discardableResult
  init(_ app: App<D>, _ room: RoomID, in parent: Node, while isThere: @escaping () -> Bool) {
    self.isThere = isThere
    let modes: [(mode: NotificationMode?, words: Strings.Key)] = [
      (nil, .notifyDefault), (.allMessages, .notifyAll), (.mentionsAndKeywords, .notifyMentions), (.mute, .notifyNothing)
    ]
    let value = { (mode: NotificationMode?) in mode.map { "\($0.rawValue)" } ?? "" }
    let known = value(app.client.pushRules.mode(of: room))
    var choice: Choice<D>?
    choice = Choice(
      app.dom, Strings[.notifications], modes.map { (value($0.mode), Strings[$0.words]) }, selected: known, in: parent
    ) { text in
      let mode = modes.first { value($0.mode).hasSameBytes(as: text) }?.mode
      app.ask(.account(.changeNotifications(.mode(room, mode)))) { result in
        guard case .failed(let error) = result else { return }
        if isThere() { choice?.set(known) }
        app.notices.show(Strings.words(for: error), isTrouble: true)
      }
    }
    addSnooze(app, room, in: parent)
  }

  /// For a while one is told of nothing.
  private func addSnooze(_ app: App<D>, _ room: RoomID, in parent: Node) {
    guard let user = app.userID else { return }
    let choice = Choice(app.dom, Strings[.snooze], [], selected: "", in: parent)
    func show(_ until: Int64) {
      let isSnoozed = until > Host.wallClockMilliseconds()
      var options: [(value: String, words: String)] = []
      options.append(("", isSnoozed ? Strings[.snoozedUntil, Host.shortLabel(until)] : Strings[.notSnoozed]))
      if isSnoozed { options.append(("0", Strings[.wake])) }
      options.append(("1", Strings[.snoozeHour]))
      options.append(("2", Strings[.snoozeMorning]))
      options.append(("3", Strings[.snoozeWeek]))
      choice.setOptions(options, selected: "")
    }
    choice.onChange = { text in
      let now = Host.wallClockMilliseconds()
      let until: Int64
      switch text.utf8.first {
      case UInt8(ascii: "0"): until = 0
      case UInt8(ascii: "1"): until = now + 3_600_000
      // Eight o'clock.
      case UInt8(ascii: "2"): until = Host.startOfDay(LocalClock().day(now) + 1) + 28_800_000
      default: until = now + 604_800_000
      }
      // It is as it was until the server has it.
      choice.set("")
      app.askOrSay(.snooze(room, untilMilliseconds: until, of: user)) { if isThere() { show(until) } }
    }
    show(app.client.room(room)?.snoozedUntilMilliseconds ?? 0)
  }
}
