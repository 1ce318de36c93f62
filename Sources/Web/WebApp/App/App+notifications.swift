import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// Telling the person of what comes while they look elsewhere.
extension App {
  /// Whether the client is to tell of what syncs bring.
  func followArrivals() {
    reportArrivals(embedding != nil || Host.setting(Settings.notifications) != nil || Host.setting(Settings.sound) != nil)
  }

  func arrived(_ id: RoomID, _ events: [Event]) {
    let state = Host.pageState
    guard !state.contains(.visible) || !state.contains(.focused), let room = client.room(id) else { return }
    var (sender, mention): (UserID?, MessageContent?)
    var isNews = false
    for event in events {
      if let target = client.reactionTarget(of: event, in: id) { reacted(event, to: target, in: room) }
      guard client.pushActions(for: event, in: id)?.notifies ?? false else { continue }
      isNews = true
      let own = mentionOfReader(event)
      if mention != nil, own == nil { continue }
      (sender, mention) = (event.sender, own)
    }
    guard isNews else { return }
    if Host.setting(Settings.sound) != nil { Host.playSound() }
    var text = notice(of: room)
    if let sender, let mention { text = Strings[.mentionedYou, room.displayName(of: sender).string, Strings.short(mention)] }
    if tell(text, of: sender, in: room) { told.append(id) }
  }

  /// Notifies of a reaction, without a sound and only if the message is the user's own: reactions do not count as unread.
  private func reacted(_ event: Event, to target: EventID, in room: Room) {
    guard canTell, !client.isQuiet, let sender = event.sender, let key = event.content["m.relates_to"]?.text("key"),
      key.count <= 100
    else { return }
    ask(.timeline(.loadEvent(room.id, target))) { [self] result in
      guard case .event(let source) = result, let message = source.json.flatMap({ Event($0) }), message.sender == userID,
        case .message(let content)? = message.item?.content
      else { return }
      tell(Strings[.reactedTo, room.displayName(of: sender).string, key.string, Strings.short(content)], of: sender, in: room)
    }
  }

  /// Whether the person wants to be shown something.
  private var canTell: Bool { Host.setting(Settings.notifications) != nil && Host.notificationPermission == .granted }

  /// False where the person wants to be shown nothing.
  @discardableResult
  private func tell(_ text: String, of sender: UserID?, in room: Room) -> Bool {
    guard canTell else { return false }
    let picture = sender.flatMap { avatarSource(room.avatar(of: $0)) } ?? ""
    Host.notify(title: Strings.words(for: room.name), text: text, tag: room.id.string, picture: picture) { [self] in
      goTo(.room(room.id))
    }
    return true
  }

  /// What was read meanwhile, here or on another device, needs no notification any more.
  func withdrawNotifications() {
    guard !told.isEmpty else { return }
    told.removeAll { id in
      if let room = client.room(id), room.notificationCount > 0 || room.membership == .invite { return false }
      Host.withdrawNotification(tag: id.string)
      return true
    }
  }

  /// nil where it does not speak to them.
  private func mentionOfReader(_ event: Event) -> MessageContent? {
    guard case .message(let message)? = event.item?.content, let userID else { return nil }
    return message.mentions?.users.contains(userID) ?? false ? message : nil
  }

  private func notice(of room: Room) -> String {
    if room.membership == .invite { return Strings[.invitation] }
    guard let preview = room.preview, let content = preview.content else { return Strings[.newMessages, count: 1] }
    let prefix = Strings.prefix(of: preview.sender, in: room, isOwn: preview.sender == userID)
    return prefix.utf8.isEmpty ? Strings.short(content) : prefix + " " + Strings.short(content)
  }
}

/// Quiet hours are the account's, and so is not to be disturbed. The browser keeps them, too, as the host reads them: also while no page is open.
extension App {
  func keepQuietHours() {
    guard embedding == nil else { return }
    let hours = client.notificationWishes.quietHours
    Host.setSetting(Settings.quietFrom, hours.map { App.clock($0.from) })
    Host.setSetting(Settings.quietUntil, hours.map { App.clock($0.until) })
    Host.setSetting(Settings.snoozedUntil, snoozedUntil.map { "\($0)" })
    showSnooze()
    Host.applyLook()
  }

  /// The end of "do not disturb", in milliseconds since 1970; nil if it is off.
  var snoozedUntil: Int64? {
    let until = client.notificationWishes.snoozedUntilMilliseconds
    return until > Host.wallClockMilliseconds() ? until : nil
  }

  /// Shows "do not disturb" at the user's own picture until it ends.
  private func showSnooze() {
    main?.showProfile()
    dom.flush()
    guard let until = snoozedUntil else { return }
    let rest = Double(until - Host.wallClockMilliseconds())
    // A week at most; browsers have timers for three.
    if rest < 2_000_000_000 { Host.after(milliseconds: rest + 1) { [self] in showSnooze() } }
  }

  /// The server goes by the clock of who was here last.
  func renewQuietHours() {
    guard embedding == nil, let hours = client.notificationWishes.quietHours else { return }
    if hours.offset != offset { setQuietHours(hours.from, hours.until) }
  }

  /// Minutes of the day; nil for none.
  func setQuietHours(_ from: Int?, _ until: Int?) {
    guard let userID else { return }
    var hours: QuietHours?
    if let from, let until { hours = QuietHours(from: from, until: until, offset: offset) }
    askOrSay(.setQuietHours(hours, of: userID))
  }

  private var offset: Int { Host.utcOffset(Host.wallClockMilliseconds()) }

  /// As `HH:MM`.
  private static func clock(_ minutes: Int) -> String {
    func digit(_ number: Int) -> UInt8 { UInt8(truncatingIfNeeded: 48 + number % 10) }
    let bytes = [
      digit(minutes / 600), digit(minutes / 60), UInt8(ascii: ":"), digit(minutes % 60 / 10), digit(minutes)
    ]
    return String(decoding: bytes, as: UTF8.self)
  }
}
