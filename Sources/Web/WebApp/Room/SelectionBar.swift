import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// What can be done with the messages that are chosen; it takes the composer's place.
final class SelectionBar<D: DOM> {
  private let conversation: Conversation<D>
  private let parent: Node
  private let dom: D
  private var app: App<D> { conversation.app }
  private var bar = Node.none
  private var count = Node.none

  init(_ conversation: Conversation<D>, in parent: Node) {
    self.conversation = conversation
    self.parent = parent
    dom = conversation.dom
  }

  func update(_ selection: RowSelection?) {
    guard let selection else { return hide() }
    if bar == .none { show() }
    let words = Strings[.selectedCount, count: selection.rows.count]
    dom.setText(count, selection.isFull ? Strings[.selectedMost, words] : words)
  }

  private func show() {
    dom.setFlag(parent, "data-selecting", true)
    bar = dom.element("div", "ma-selection", in: parent)
    dom.markPart(bar)
    dom.setAttribute(bar, "role", "toolbar")
    dom.setLabel(bar, .selectedMessages)
    let close = dom.button("ma-round", icon: .close, label: .endSelection, in: bar)
    count = dom.element("span", "ma-selection-count", in: bar)
    dom.setAttribute(count, "role", "status")
    dom.on(close, .click) { [self] _ in end() }
    add(.copy, .copy) { [self] in copy() }
    if app.embedding == nil {
      add(.forwardNow, .forward) { [self] in forward() }
      add(.saveMessage, .bookmark) { [self] in save() }
    }
    add(.deleteNow, .bin, "ma-button ma-selection-danger") { [self] in delete() }
    dom.listen(bar, .keyDown) { [self] event in
      guard case .escape = event.key else { return .pass }
      end()
      return .preventDefault
    }
  }

  private func add(
    _ words: Strings.Key, _ icon: Drawing, _ look: String = "ma-button", _ run: @escaping () -> Void
  ) {
    let button = dom.button(look, words, icon: icon, in: bar)
    dom.setLabel(button, words)
    dom.setAttribute(button, "title", Strings[words])
    dom.on(button, .click) { _ in run() }
  }

  private func hide() {
    guard bar != .none else { return }
    dom.release(bar)
    bar = .none
    dom.setFlag(parent, "data-selecting", false)
  }

  private func end() {
    conversation.feed.timeline.endSelection()
    conversation.feed.timeline.takeFocus()
    dom.flush()
  }

  // MARK: Doing

  /// The oldest first.
  private var items: [TimelineItem] {
    let feed = conversation.feed
    return feed.timeline.selectedRows.compactMap { feed.item($0) }
  }

  /// One message as it is, several with who said each and when.
  private func copy() {
    guard let room = conversation.feed.room else { return }
    let items = items
    var texts: [String] = []
    for item in items {
      guard case .message(let message) = item.content else { continue }
      let head =
        Strings[.listed, room.displayName(of: item.sender).string, Host.dateTimeLabel(item.timestampMilliseconds)] + "\n"
      texts.append((items.count > 1 ? head : "") + message.body.string)
    }
    conversation.copy(texts.joined(separator: "\n\n"))
    end()
  }

  private func forward() {
    let items = items.filter { $0.isForwardable }
    guard !items.isEmpty else { return app.notices.show(.nothingToForward, isTrouble: true) }
    app.dialogs.open { frame in
      ForwardDialog(conversation, items, in: frame).onDone = { [self] in conversation.feed.timeline.endSelection() }
    }
  }

  private func save() {
    guard let room = conversation.feed.key?.room else { return }
    app.saved.set(items.compactMap { $0.eventID }, true, in: room)
    end()
  }

  /// Asks first, and says which stay.
  private func delete() {
    guard let key = conversation.feed.key, let room = conversation.feed.room else { return }
    let all = items
    let own = all.filter { room.mayDelete($0, as: app.userID) }
    guard !own.isEmpty else { return app.notices.show(.nothingToDelete, isTrouble: true) }
    let others = all.count - own.count
    app.dialogs.open { [self] frame in
      ConfirmDialog(
        Strings[.deleteSelectedQuestion, count: own.count],
        note: others > 0 ? Strings[.deleteSelectedOthers, count: others] : "", action: .delete, busy: .removing, in: frame,
        run: { [self] ended in
          // The outbox has them from here on, also without a network.
          for item in own { app.askOrSay(.sending(.redact(key.room, conversation.target(RowID(item.id)), reason: nil))) }
          ended(nil)
        }, { [self] in end() })
    }
  }
}

extension Room {
  /// Whether that user can delete the message for everyone.
  func mayDelete(_ item: TimelineItem, as user: UserID?) -> Bool {
    guard let user, membership == .join else { return false }
    return powerLevels?.canRedact(eventOf: item.sender, by: user) ?? (item.sender == user)
  }
}
