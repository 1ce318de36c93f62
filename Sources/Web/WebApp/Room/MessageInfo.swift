import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// What is known of a message beside its words: when it was sent and edited, who has read it, its event.
struct MessageInfo<D: DOM> {
  private static var readersLimit: Int { 200 }

  /// - Parameter showSource: opens the event as it is.
  @discardableResult
  init(_ conversation: Conversation<D>, _ item: TimelineItem, in frame: DialogFrame<D>, showSource: @escaping () -> Void) {
    let (app, dom, feed) = (conversation.app, conversation.dom, conversation.feed)
    frame.setTitle(.messageInfo)
    fact(dom, Strings[.sent], Host.dateTimeLabel(item.timestampMilliseconds), in: frame.body)
    let versions = feed.source?.history(of: item.id) ?? []
    if versions.first?.content.isSilent ?? false { dom.element("p", "ma-note", text: .sentSilently, in: frame.body) }
    if item.isEdited, versions.count > 1 {
      Self.showHistory(versions.map { ($0.timestampMilliseconds, $0.content) }, dom, in: frame.body)
    }
    let readers = Self.readers(of: item, in: feed)
    if !readers.isEmpty {
      dom.element("h3", "ma-field-label", text: .readers, in: frame.body)
      let exact = feed.source?.readers(at: item.id) ?? []
      conversation.listReaders(Array(readers.prefix(Self.readersLimit)), in: frame.body) { exact.contains($0) }
      let more = readers.count - Self.readersLimit
      if more > 0 { dom.element("p", "ma-note", text: Strings[.moreMembers, count: more], in: frame.body) }
    }
    let delivered = Self.delivered(item, in: feed, besides: readers)
    if !delivered.isEmpty {
      dom.element("h3", "ma-field-label", text: .deliveredTo, in: frame.body)
      conversation.listReaders(Array(delivered.prefix(Self.readersLimit)), in: frame.body) { _ in false }
    }
    guard app.showsSources else { return }
    if let event = item.eventID { CopyLine(app, .eventID, event.string, in: frame.body) }
    let source = dom.button("ma-button ma-wide", .viewSource, in: frame.body)
    dom.on(source, .click) { _ in showSource() }
  }

  /// What it said at first and after each edit, the oldest first.
  private static func showHistory(_ versions: [(time: Int64, content: MessageContent)], _ dom: D, in parent: Node) {
    let fold = dom.element("details", "ma-fold", in: parent)
    dom.element("summary", text: Strings[.editedTimes, count: versions.count - 1], in: fold)
    let list = dom.element("ol", "ma-versions", in: fold)
    for version in versions {
      let entry = dom.element("li", in: list)
      dom.element("span", "ma-field-label", text: Host.dateTimeLabel(version.time), in: entry)
      dom.element("p", "ma-version", text: version.content.body.string, in: entry)
    }
  }

  /// The devices of these people have an own message, and they have not read it yet. When it came there nobody tells.
  private static func delivered(_ item: TimelineItem, in feed: Feed<D>, besides readers: [UserID]) -> [UserID] {
    guard let key = feed.key, feed.isLive, item.sender == feed.app.userID, let index = feed.source?.index(of: item.id) else {
      return []
    }
    return feed.app.client.usersReached(by: index, in: key.room).filter { !readers.contains($0) }
  }

  private func fact(_ dom: D, _ label: String, _ text: String, in parent: Node) {
    let texts = dom.element("div", "ma-copy-texts", in: dom.element("div", "ma-copy-line", in: parent))
    dom.element("span", "ma-field-label", text: label, in: texts)
    dom.element("span", "ma-copy-text", text: text, in: texts)
  }

  /// Who stands at it or behind it, those at it first.
  static func readers(of item: TimelineItem, in feed: Feed<D>) -> [UserID] {
    guard let source = feed.source, feed.isLive, let index = source.index(of: item.id) else { return [] }
    var users: [UserID] = []
    for later in source.items[index...] { users += source.readers(at: later.id) }
    return users.filter { $0 != item.sender && $0 != feed.app.userID }
  }
}
