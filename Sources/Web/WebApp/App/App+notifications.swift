import ClientCore
import JSON
import MatrixModel
import Messenger
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
    let news = events.filter { client.pushActions(for: $0, in: id)?.notifies ?? false }
    guard let last = news.last else { return }
    if Host.setting(Settings.sound) != nil { Host.playSound() }
    guard Host.setting(Settings.notifications) != nil, Host.notificationPermission == .granted else { return }
    told.append(id)
    let mention = news.last { mentionsReader($0) != nil }
    let sender = (mention ?? last).sender
    let words = mention.flatMap { mentionsReader($0) }.map { message in
      Strings[.mentionedYou, sender.map { room.displayName(of: $0).string } ?? "", Strings.short(message)]
    }
    Host.notify(
      title: Strings.words(for: room.name), text: words ?? notice(of: room), tag: id.string,
      picture: avatarSource(sender.flatMap { room.avatar(of: $0) }) ?? ""
    ) { [self] in goTo(.room(id)) }
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

  /// The message, where it does.
  private func mentionsReader(_ event: Event) -> MessageContent? {
    guard case .message(let message)? = event.item?.content, let userID else { return nil }
    return message.mentions?.users.contains(userID) ?? false ? message : nil
  }

  private func notice(of room: Room) -> String {
    if room.membership == .invite { return Strings[.invitation] }
    guard let preview = room.preview, let content = preview.content else { return Strings[.newMessages, count: 1] }
    let text = Strings.short(content)
    return room.isDirect ? text : room.displayName(of: preview.sender).string + ": " + text
  }
}
