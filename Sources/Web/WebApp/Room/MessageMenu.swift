import ClientCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// What can be done with a message; opened by its context menu.
final class MessageMenu<D: DOM> {
  private enum Choice { case copy(String), delete, retry, cancel }

  private let app: App<D>

  init(_ app: App<D>) { self.app = app }

  /// False where there is nothing to choose: the browser's own menu opens.
  func open(for item: TimelineItem, in room: RoomID, x: Double, y: Double) -> Bool {
    let choices = choices(for: item, in: room)
    guard !choices.isEmpty else { return false }
    let (app, dom) = (app, app.dom)
    app.dialogs.open { frame in
      frame.setTitle(Host.dateTimeLabel(item.timestampMilliseconds), classes: "ma-dialog ma-menu")
      if case .failed(let error) = item.delivery {
        dom.element("p", "ma-menu-note", text: Strings.words(for: error), in: frame.body)
      }
      for (index, choice) in choices.enumerated() {
        let button = dom.button("ma-menu-item", text(of: choice), in: frame.body)
        if index == 0 { frame.setFirst(button) }
        dom.on(button, .click) { _ in
          frame.close()
          Self.run(choice, item.id, in: room, app)
        }
      }
    }
    return true
  }

  private func choices(for item: TimelineItem, in room: RoomID) -> [Choice] {
    var choices: [Choice] = []
    if case .message(let message) = item.content, !message.body.isEmpty { choices.append(.copy(message.body.string)) }
    switch item.delivery {
    case .failed: choices += [.retry, .cancel]
    case .queued, .held, .uploading: choices.append(.cancel)
    case .sending: break
    case .received, .sent:
      if item.eventID != nil, item.canBeRedacted, mayRedact(item, in: room) { choices.append(.delete) }
    }
    return choices
  }

  private func mayRedact(_ item: TimelineItem, in room: RoomID) -> Bool {
    guard let user = app.userID, let state = app.client.room(room), state.membership == .join else { return false }
    return state.powerLevels?.canRedact(eventOf: item.sender, by: user) ?? (item.sender == user)
  }

  private func text(of choice: Choice) -> String {
    switch choice {
    case .copy: Strings[.copyText]
    case .delete: Strings[.delete]
    case .retry: Strings[.retry]
    case .cancel: Strings[.cancelSending]
    }
  }

  private static func run(_ choice: Choice, _ item: ItemID, in room: RoomID, _ app: App<D>) {
    switch choice {
    case .copy(let text): Host.copyToClipboard(text) { isDone in if isDone { app.notices.show(Strings[.copied]) } }
    case .retry: app.ask(.retry(room, item))
    case .cancel: app.ask(.cancel(room, item))
    case .delete:
      app.dialogs.open {
        ConfirmDialog(
          app, Strings[.deleteQuestion], action: Strings[.delete], busy: Strings[.removing], .redact(room, item, reason: nil),
          in: $0)
      }
    }
  }
}

extension TimelineItem {
  var canBeRedacted: Bool {
    switch content {
    case .message, .undecryptable, .custom, .unparsable: true
    case .state, .redacted, .gap: false
    }
  }
}
