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
    var (sender, mention): (UserID?, MessageContent?)
    var isNews = false
    for event in events where client.pushActions(for: event, in: id)?.notifies ?? false {
      isNews = true
      let own = mentionOfReader(event)
      if mention != nil, own == nil { continue }
      (sender, mention) = (event.sender, own)
    }
    guard isNews else { return }
    if Host.setting(Settings.sound) != nil { Host.playSound() }
    guard Host.setting(Settings.notifications) != nil, Host.notificationPermission == .granted else { return }
    told.append(id)
    var (text, picture) = (notice(of: room), "")
    if let sender {
      picture = avatarSource(room.avatar(of: sender)) ?? ""
      if let mention { text = Strings[.mentionedYou, room.displayName(of: sender).string, Strings.short(mention)] }
    }
    Host.notify(title: Strings.words(for: room.name), text: text, tag: id.string, picture: picture) { [self] in goTo(.room(id))
    }
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
    let text = Strings.short(content)
    return room.isDirect ? text : room.displayName(of: preview.sender).string + ": " + text
  }
}
