import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// What can be done with a room from the list; opened by its context menu or its button.
struct RoomMenu<D: DOM> {
  private let app: App<D>
  private let id: RoomID
  private let menu: Menu<D>

  /// - Parameter frame: opened with the style `menu`.
  @discardableResult
  init(_ app: App<D>, _ id: RoomID, in frame: DialogFrame<D>) {
    self.app = app
    self.id = id
    let room = app.client.room(id)
    menu = Menu(room.map { Strings.words(for: $0.name) } ?? "", in: frame)
    guard let room else { return }
    switch room.membership {
    case .join: addAll(room)
    case .invite: menu.add(.decline, .close) { [self] in leave() }
    case .leave, .ban: menu.add(.forget, .bin) { [self] in ask(.rooms(.forget(id))) { [self] in left() } }
    case .knock: menu.add(.withdrawRequest, .close) { [self] in leave() }
    }
  }

  private func addAll(_ room: Room) {
    addReading(room)
    let isMuted = app.client.notificationMode(of: id) == .mute
    menu.divide()
    menu.add(isMuted ? .unmuteRoom : .muteRoom, isMuted ? .bell : .muted, note: isMuted ? nil : .muteNote) { [app, id] in
      app.askOrSay(.account(.changeNotifications(.mode(id, isMuted ? nil : .mute))))
    }
    menu.add(.snooze, .clock, note: .snoozeNote) { [app, id] in
      app.dialogs.open(as: .menu) { SnoozeMenu(app, id, in: $0) }
    }
    menu.add(.notifications, .bell, note: .notifyNote) { [app, id] in
      app.dialogs.open(as: .menu) { NotificationMenu(app, id, in: $0) }
    }
    menu.divide()
    addOrder(room)
    menu.divide()
    menu.add(.details, .info) { [self] in app.goTo(.details(id)) }
    menu.add(.chooseSeveral, .select) { [app, id] in app.dialogs.open { ManyRoomsDialog(app, chosen: id, in: $0) } }
    menu.divide()
    menu.add(app.isChat(id) ? .leaveChat : .leave, .exit, isDangerous: true) { [self] in app.askToLeave(id) { [self] in left() }
    }
  }

  private func addReading(_ room: Room) {
    guard room.isUnread else {
      return menu.add(.markUnread, .unread) { [self] in ask(.reading(.markUnread(id, true))) }
    }
    menu.add(.markRead, .check) { [app] in app.markAsRead(room) }
    menu.add(.whyUnread, .help) { [self] in
      app.ask(.reading(.explainUnread(id))) { [app] result in
        if case .unread(let evidence) = result { UnreadDialog(app, room, evidence) }
      }
    }
  }

  /// Where it stands in the list.
  private func addOrder(_ room: Room) {
    let (isFavourite, isLow) = (room.isFavourite, room.isLowPriority)
    menu.add(isFavourite ? .noFavourite : .makeFavourite, .star) { [self] in
      set(RoomTag.favourite, !isFavourite, without: isLow ? RoomTag.lowPriority : nil)
    }
    if room.isSpace { addSpaceMoves() }
    if isFavourite { addMoves() }
    menu.add(isLow ? .noLowPriority : .makeLowPriority, .down, note: isLow ? nil : .lowPriorityNote) { [self] in
      set(RoomTag.lowPriority, !isLow, without: isFavourite ? RoomTag.favourite : nil)
    }
    if room.isHidden {
      menu.add(.showAgain, .eye) { [app, id] in app.askOrSay(.unhide(id)) }
    } else if app.client.offeredExtensions?.contains(.hide) ?? false {
      menu.add(.hideRoom, .eyeOff) { [app, id] in
        app.askOrSay(.hide(id)) { [app] in
          app.notices.show(.hidden)
          if app.place.room == id { app.goTo(.list, replacing: true) }
        }
      }
    }
  }

  /// Adds the commands that move the space among the user's top-level spaces.
  private func addSpaceMoves() {
    let all = app.client.topLevelSpaces
    guard let index = all.firstIndex(of: id) else { return }
    if index > 0 { menu.add(.moveUp, .up) { [app, id] in app.moveSpace(id, to: index - 1) } }
    if index + 1 < all.count { menu.add(.moveDown, .down) { [app, id] in app.moveSpace(id, to: index + 1) } }
  }

  /// Adds the commands that move the room within the favourites.
  private func addMoves() {
    let all = app.client.rooms(tagged: RoomTag.favourite)
    guard let index = all.firstIndex(of: id) else { return }
    let moves: [(place: Int, words: Strings.Key, icon: Drawing)] = [(index - 1, .moveUp, .up), (index + 1, .moveDown, .down)]
    for (place, words, icon) in moves where all.indices.contains(place) {
      menu.add(words, icon) { [self] in
        for (room, order) in app.client.tagOrders(toMove: id, to: place, tag: RoomTag.favourite) {
          ask(.rooms(.setTag(room, RoomTag(RoomTag.favourite, order: order))))
        }
      }
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
