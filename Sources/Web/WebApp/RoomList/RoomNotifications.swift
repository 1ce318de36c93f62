import ClientCore
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// What the user is notified about in a room.
enum RoomNotifications {
  /// nil means the account's default for rooms of this kind.
  static let modes: [(mode: NotificationMode?, words: Strings.Key)] = [
    (nil, .notifyDefault), (.allMessages, .notifyAll), (.mentionsAndKeywords, .notifyMentions), (.mute, .notifyNothing)
  ]
}

/// For how long nothing of a room notifies.
enum Snooze: Int, CaseIterable {
  case hour = 1
  /// Until eight o'clock.
  case morning, week

  var words: Strings.Key {
    switch self {
    case .hour: .snoozeHour
    case .morning: .snoozeMorning
    case .week: .snoozeWeek
    }
  }

  /// In milliseconds since 1970, from now on.
  var end: Int64 {
    let now = Host.wallClockMilliseconds()
    return switch self {
    case .hour: now + 3_600_000
    case .morning: Host.startOfDay(LocalClock().day(now) + 1) + 28_800_000
    case .week: now + 604_800_000
    }
  }
}

/// The modes as a menu, opened from a room's.
struct NotificationMenu<D: DOM> {
  @discardableResult
  init(_ app: App<D>, _ room: RoomID, in frame: DialogFrame<D>) {
    let menu = Menu(Strings[.notifications], in: frame)
    let known = app.client.pushRules.mode(of: room)
    for (mode, words) in RoomNotifications.modes {
      menu.add(words, isOn: mode == known) { app.askOrSay(.account(.changeNotifications(.mode(room, mode)))) }
    }
  }
}

/// For how long, as a menu, opened from a room's.
struct SnoozeMenu<D: DOM> {
  @discardableResult
  init(_ app: App<D>, _ room: RoomID, in frame: DialogFrame<D>) {
    let menu = Menu(Strings[.snooze], in: frame)
    guard let user = app.userID else { return }
    let until = app.client.room(room)?.snoozedUntilMilliseconds ?? 0
    if until > Host.wallClockMilliseconds() {
      menu.note(Strings[.snoozedUntil, Host.shortLabel(until)])
      menu.add(.wake, .bell) { app.askOrSay(.snooze(room, untilMilliseconds: 0, of: user)) }
      menu.divide()
    }
    for choice in Snooze.allCases {
      menu.add(choice.words) { app.askOrSay(.snooze(room, untilMilliseconds: choice.end, of: user)) }
    }
  }
}

/// Both as lists of options, in the details of a room.
struct NotificationChoice<D: DOM> {
  private let isThere: () -> Bool

  /// - Parameter isThere: whether it still is when an answer comes.
  @discardableResult
  init(_ app: App<D>, _ room: RoomID, in parent: Node, while isThere: @escaping () -> Bool) {
    self.isThere = isThere
    let modes = RoomNotifications.modes
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

  private func addSnooze(_ app: App<D>, _ room: RoomID, in parent: Node) {
    guard let user = app.userID else { return }
    let choice = Choice(app.dom, Strings[.snooze], [], selected: "", in: parent)
    func show(_ until: Int64) {
      let isSnoozed = until > Host.wallClockMilliseconds()
      var options: [(value: String, words: String)] = []
      options.append(("", isSnoozed ? Strings[.snoozedUntil, Host.shortLabel(until)] : Strings[.notSnoozed]))
      if isSnoozed { options.append(("0", Strings[.wake])) }
      for snooze in Snooze.allCases { options.append(("\(snooze.rawValue)", Strings[snooze.words])) }
      choice.setOptions(options, selected: "")
    }
    choice.onChange = { text in
      let until = Int(text).flatMap { Snooze(rawValue: $0) }?.end ?? 0
      // It is as it was until the server has it.
      choice.set("")
      app.askOrSay(.snooze(room, untilMilliseconds: until, of: user)) { if isThere() { show(until) } }
    }
    show(app.client.room(room)?.snoozedUntilMilliseconds ?? 0)
  }
}
