import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// Says of each message that makes a room unread which rule does; a click leads there.
struct UnreadDialog<D: DOM> {
  private let app: App<D>
  private let room: Room

  @discardableResult
  init(_ app: App<D>, _ room: Room, _ evidence: UnreadEvidence) {
    self.app = app
    self.room = room
    let dom = app.dom
    app.dialogs.open { frame in
      frame.setTitle(.whyUnread)
      if room.isMarkedUnread { dom.element("p", "ma-note", text: .markedUnread, in: frame.body) }
      let told = room.unreadCounts.total.notifications
      if told > evidence.counts.total.notifications {
        dom.element("p", "ma-note", text: Strings[.unreadElsewhere, count: told], in: frame.body)
      }
      let list = dom.element("div", "ma-results", in: frame.body)
      for item in evidence.items {
        let entry = show(item, in: list)
        dom.on(entry, .click) { _ in
          frame.close()
          app.follow(Destination(Permalink(.room(room.id), event: item.eventID)))
        }
      }
      if let time = evidence.readUntilMilliseconds {
        dom.element("p", "ma-note", text: Strings[.readUntil, Host.dateTimeLabel(time)], in: frame.body)
      }
    }
  }

  private func show(_ item: UnreadEvidence.Item, in list: Node) -> Node {
    let entry = app.dom.button("ma-result", in: list)
    let who = room.displayName(of: item.sender).string + " · " + Host.shortLabel(item.timestampMilliseconds)
    app.dom.element("span", "ma-result-name", text: who, in: entry)
    if case .message(let message) = item.content {
      app.dom.element("span", "ma-result-text", text: Strings.short(message), in: entry)
    }
    app.dom.element("span", "ma-note", text: reason(item.ruleID), in: entry)
    return entry
  }

  /// In the words of the settings that the rule is.
  private func reason(_ rule: ByteString) -> String {
    if rule == room.id.text { return Strings[.notifications, of: Strings[.notifyAll]] }
    if !rule.hasPrefix(".") { return Strings[.keywords, of: rule.string] }
    switch rule {
    case ".m.rule.is_room_mention", ".m.rule.roomnotif": return Strings[.tellRoomMentions]
    case ".m.rule.is_user_mention", ".m.rule.contains_display_name", ".m.rule.contains_user_name":
      return Strings[.tellMentions]
    case ".m.rule.room_one_to_one", ".m.rule.encrypted_room_one_to_one":
      return Strings[.inDirectChats, of: Strings[.notifyAll]]
    case ".m.rule.message", ".m.rule.encrypted": return Strings[.inRooms, of: Strings[.notifyAll]]
    default: return rule.string
    }
  }
}
