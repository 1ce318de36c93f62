import ClientCore
import JSON
import MatrixModel
import MessageRows
import Messenger
import PageWidgets
import WebHost

/// A timeline with what people do in it: the room itself, or a thread beside it.
final class Conversation<D: DOM> {
  let app: App<D>
  let dom: D
  let feed: Feed<D>
  let writer: Writer<D>
  /// To a message, wherever it is in the room.
  var onGoTo: ((EventID) -> Void)?
  var onThread: ((EventID) -> Void)?
  /// From around a message to the end of the room.
  var onLatest: (() -> Void)?
  /// Looks for a word in the room.
  var onSearch: ((String) -> Void)?
  /// To what was said from a moment on.
  var onDay: ((Int64) -> Void)?
  let sound: RowSound<D>
  private let box: Node
  private lazy var selection = SelectionBar(self, in: box)

  init(_ app: App<D>, in parent: Node) {
    self.app = app
    dom = app.dom
    box = parent
    let options = Host.timelineOptions()
    options.phrases = Strings.phrases
    options.quickReactions = { [app] in app.emoji.habits.quick }
    options.actions = [
      .openMedia, .openFile, .openSender, .openMention, .openLocation, .openReply, .showReactors, .openThread, .showReaders,
      .play, .copy, .openTerms
    ]
    if app.embedding?.isReadOnly != true { options.actions.formUnion([.retry, .react, .addReaction, .vote, .reply, .menu]) }
    feed = Feed(app, options, in: parent)
    sound = RowSound(feed.timeline) { app.notices.show(.playFailed, isTrouble: true) }
    if let embedding = app.embedding {
      feed.timeline.setBubbles(embedding.bubbles)
      for kind in embedding.drawings.kinds { feed.timeline.register(content: kind, embedding.drawings.renderer(of: kind)) }
    }
    writer = Writer(feed.rows, options.phrases, in: parent)
    feed.timeline.onSelection = { [self] in selection.update($0) }
    feed.timeline.onAction = { [self] in act($0) }
    writer.onSent = { [self] in sent() }
    writer.onEditLast = { [self] in editLast() }
  }

  func close() {
    sound.stop()
    feed.close()
    writer.close()
  }

  func show(_ key: TimelineKey?, at event: EventID? = nil) {
    if key != feed.key { sound.stop() }
    feed.show(key, at: event)
    writer.show(key)
  }

  private func sent() {
    if let focus = feed.key?.focus, case .event = focus { onLatest?() } else { feed.timeline.scrollToEnd() }
  }

  private func editLast() -> Bool {
    guard let item = feed.source?.items.last(where: { canEdit($0) }) else { return false }
    feed.settle()
    writer.edit(item)
    feed.timeline.scroll(to: RowID(item.id), place: .bottom)
    return true
  }

  func canEdit(_ item: TimelineItem) -> Bool {
    guard item.sender == app.userID, case .message(let message) = item.content else { return false }
    switch message.kind {
    case .text, .emote, .notice: return true
    default: return false
    }
  }

  // MARK: Actions

  func act(_ action: TimelineAction) -> Bool {
    guard let room = feed.key?.room else { return false }
    switch action {
    case .retry(let row): if let item = feed.item(row) { app.retry(item, in: room) }
    case .cancel(let row): app.ask(.sending(.cancel(room, .item(row.rawValue))))
    case .retryGap(let row): if let key = feed.key { app.ask(.timeline(.fillGap(key, row.rawValue))) }
    case .retryHead: feed.loadOlder()
    case .retryTail: if let key = feed.key { app.ask(.timeline(.paginateForward(key))) }
    case .jumpToEnd: onLatest?()
    case .toggleFold(let row) where Folding.isNote(row): if let user = feed.user(of: row) { open(user) }
    case .toggleFold(let row): feed.toggleFold(row)
    case .menu(let row, _, _): return openMenu(row)
    case .key(let row, let key): return feed.item(row).map { MessageMenu(self).run(key: key, on: $0) } ?? false
    case .openMedia(let row, let part, let item): openMedia(row, part: part, item: item)
    case .openFile(let row, let part): if let file = file(row, part: part, item: 0) { download(file, in: row) }
    case .openLink(let row, let url): return open(link: url, in: row)
    case .openSender(let row): if let user = feed.item(row)?.sender { open(user) }
    case .openMention(_, let id): open(mention: id)
    case .openLocation(let row, _): openLocation(row)
    case .play(let row, let part): play(row, part)
    case .seek(let row, let part, let fraction): seek(row, part, fraction)
    case .changeRate(let row, let part): sound.changeRate(row, part)
    case .copy(_, let text): copy(text)
    default: return relate(action, room)
    }
    return true
  }

  /// What says something about a message.
  private func relate(_ action: TimelineAction, _ room: RoomID) -> Bool {
    switch action {
    case .reply(let row): if let item = feed.item(row) { writer.reply(to: item) }
    case .openReply(let row): if let event = feed.item(row)?.replyTo { onGoTo?(event) }
    case .react(let row, let key): react(ByteString(key), to: row, in: room)
    case .addReaction(let row, _, _): pickReaction(row)
    case .showReactors(let row): showReactors(row)
    case .showReaders(let row): showReaders(row)
    case .openThread(let row): if let item = feed.item(row), let event = item.threadRoot ?? item.eventID { onThread?(event) }
    case .vote(let row, _, let answers):
      app.askOrSay(.sending(.vote(room, poll: target(row), answers: answers.map { ByteString($0) })))
    default: return false
    }
    return true
  }

  /// By its event where it has one: items are of one timeline, events of the room.
  func target(_ row: RowID) -> SendTarget {
    feed.item(row)?.eventID.map { .event($0) } ?? .item(Folding.item(of: row))
  }

  private func openMenu(_ row: RowID) -> Bool {
    guard let item = feed.item(row) else { return false }
    return MessageMenu(self).open(for: item)
  }

  func pickReaction(_ row: RowID) {
    guard let room = feed.key?.room else { return }
    app.dialogs.open(as: .popover) { frame in
      EmojiPicker(app, in: frame) { [self] emoji in
        frame.close()
        react(ByteString(emoji), to: row, in: room)
        feed.timeline.renewTools()
      }
    }
  }

  /// Takes the reaction back where it was given. Where the page around wants one of each person, it takes the place of the others.
  func react(_ key: ByteString, to row: RowID, in room: RoomID) {
    let target = target(row)
    if app.embedding?.hasOneReaction ?? false, let item = feed.item(row) {
      for other in item.reactions where other.isOwn && other.key != key {
        app.ask(.sending(.toggleReaction(room, target, key: other.key)))
      }
    }
    app.askOrSay(.sending(.toggleReaction(room, target, key: key)))
  }

  func copy(_ text: String) {
    Host.copyToClipboard(text) { [self] isDone in if isDone { app.notices.show(.copied) } }
  }
}
