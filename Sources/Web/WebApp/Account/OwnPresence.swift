import ClientCore
import JSON
import Messenger
import PageWidgets
import WebHost

/// The user's presence as others see it.
enum OwnPresence: String, CaseIterable {
  case online = ""
  case away = "unavailable"
  case invisible = "offline"

  var words: Strings.Key {
    switch self {
    case .online: .presenceOnline
    case .away: .presenceAway
    case .invisible: .presenceHidden
    }
  }

  var icon: Drawing {
    switch self {
    case .online: .user
    case .away: .clock
    case .invisible: .eyeOff
    }
  }

  /// The CSS class of the sign at the user's own picture.
  var signClass: String {
    switch self {
    case .online: "ma-presence"
    case .away: "ma-presence ma-away"
    case .invisible: "ma-presence ma-invisible"
    }
  }

  var presence: Presence {
    switch self {
    case .online: .online
    case .away: .unavailable
    case .invisible: .offline
    }
  }

  static var kept: OwnPresence {
    let kept = Host.setting(Settings.presence) ?? ""
    return allCases.first { $0.rawValue.hasSameBytes(as: kept) } ?? .online
  }

  fileprivate func keep() { Host.setSetting(Settings.presence, self == .online ? nil : rawValue) }
}

extension App {
  func show(_ presence: OwnPresence) {
    presence.keep()
    tellPresence(always: true)
    main?.showProfile()
  }

  /// As it was chosen. Who is there needs not say so, unless they did not want to be seen before, or said something that holds no longer.
  func tellPresence(always: Bool = false) {
    let isOver = OwnStatus.kept.isOver
    if isOver { OwnStatus(text: "", until: 0).keep() }
    let (presence, status) = (OwnPresence.kept.presence, OwnStatus.kept)
    let command = Command.people(.setPresence(presence, message: ByteString(status.text)))
    if always { askOrSay(command) } else if isOver || presence != .online || !status.isEmpty { ask(command) }
    status.follow(self)
  }
}
