import ClientCore
import ClientHost
import EncryptionLink
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// Turns items of the client's timeline into rows of the messenger. Rows of one author share one `Sender`.
final class RowMaker<D: DOM> {
  /// Names that are told of one reaction; the others are counted.
  private static var reactorsLimit: Int { 12 }
  /// Changes in one line that are told by their names.
  private static var summaryLimit: Int { 200 }
  /// In larger rooms readers have no faces: a word says enough.
  static var readersLimit: Int { 100 }

  let app: App<D>
  private var senders: [UserID: Sender] = [:]
  var previews = PreviewShelf()
  /// False once the server has said that it does not look at pages.
  var canPreview = true

  init(_ app: App<D>) { self.app = app }

  func forgetSenders() { senders = [:] }
  func forget(_ users: [UserID]) { for user in users { senders[user] = nil } }

  func sender(_ user: UserID, in room: Room) -> Sender {
    if let known = senders[user] { return known }
    let role = room.isDirect ? nil : room.powerLevels?.role(of: user)
    let sender = Sender(
      id: user.string, name: room.displayName(of: user).string, avatar: app.avatarSource(room.avatar(of: user)),
      role: role.flatMap { $0 <= .user || user == app.userID ? nil : Strings.words(for: $0) } ?? "", isOwn: user == app.userID)
    senders[user] = sender
    return sender
  }

  /// - Parameters:
  ///   - unread: how many members have not read it.
  ///   - readers: who has read it, if they are shown.
  ///   - isFromBefore: it was sent before the user joined.
  func row(_ item: TimelineItem, in room: Room, unread: Int, readers: [UserID] = [], isFromBefore: Bool = false) -> TimelineRow
  {
    TimelineRow(
      id: RowID(item.id), timestampMilliseconds: item.timestampMilliseconds,
      content: content(item, room, unread, readers, isFromBefore))
  }

  private func content(
    _ item: TimelineItem, _ room: Room, _ unread: Int, _ readers: [UserID], _ isFromBefore: Bool
  ) -> TimelineRow.Content {
    switch item.content {
    case .gap(let state):
      switch state {
      case .idle: return .gap(.idle)
      case .loading: return .gap(.loading)
      case .failed: return .gap(.failed)
      }
    case .state(let change): return .line(line(change, item, room))
    case .message(let message):
      return .message(row(item, room, withPreview(body(message, item, room), item, room), unread, readers))
    case .redacted: return .message(row(item, room, .redacted, unread, readers))
    case .undecryptable(let reason):
      return .message(row(item, room, .undecryptable(why(reason, item, isFromBefore)), unread, readers))
    case .call(let call):
      let words = Strings.words(for: call, isOwn: item.sender == app.userID)
      return .message(row(item, room, .unsupported(words), unread, readers))
    case .verification(let verification):
      return .message(row(item, room, .unsupported(Strings.words(for: verification)), unread, readers))
    case .custom(let event): return .message(row(item, room, body(event), unread, readers))
    case .unparsable: return .message(row(item, room, .unsupported(""), unread, readers))
    }
  }

  /// Why it cannot be read, and what to do.
  private func why(_ reason: UndecryptableReason, _ item: TimelineItem, _ isFromBefore: Bool) -> String {
    if !app.client.encrypts { return Strings[.encryptedMessage] }
    if isFromBefore { return Strings[.sentBeforeJoining] }
    guard reason.isOverdue(sentAt: item.timestampMilliseconds, at: Host.wallClockMilliseconds()) else {
      return Strings.words(for: reason)
    }
    return Strings.wordsOfOverdueKey(isVerified: app.effects.encryption.state?.isVerified ?? true)
  }

  func line(_ change: StateChange, _ item: TimelineItem, _ room: Room) -> String {
    if case .callLeft(_, let call?) = change {
      return Strings[.endedCall, ClockText.minutes(call.durationMilliseconds), names(call.participants, room)]
    }
    if case .created = change, room.directUserID != nil {
      return item.sender == app.userID
        ? Strings[.chatStartedYou] : Strings[.chatStarted, room.displayName(of: item.sender).string]
    }
    return Strings.words(for: change, by: room.displayName(of: item.sender).string) { room.displayName(of: $0).string }
  }

  /// Several changes in a line; of many only the first is looked at, for a room may begin with thousands who joined.
  func summary(_ items: ArraySlice<TimelineItem>, _ room: Room) -> String {
    // Of what cannot be read, only that from before the user joined is folded.
    if items.prefix(RowMaker.summaryLimit).contains(where: { $0.isUndecryptable }) { return Strings[.readFromHere] }
    var joined: [UserID] = []
    var seen: Set<UserID> = []
    for item in items where items.count <= RowMaker.summaryLimit {
      guard case .state(.joined(let user)) = item.content, seen.insert(user).inserted else { break }
      joined.append(user)
    }
    if joined.count == items.count { return Strings[.theyJoined, names(joined, room)] }
    guard let first = items.first, case .state(let change) = first.content else { return "" }
    return Strings[.moreChanges, line(change, first, room), "\(items.count - 1)"]
  }

  private func row(
    _ item: TimelineItem, _ room: Room, _ body: MessageRow.Body, _ unread: Int, _ readers: [UserID]
  ) -> MessageRow {
    MessageRow(
      sender: sender(item.sender, in: room), body: body, sendState: sendState(item), isEdited: item.isEdited,
      unreadMembers: app.embedding?.showsUnreadNumbers ?? false ? max(0, unread) : 0, receipt: receipt(item, room, unread),
      surroundings: surroundings(item, room, readers))
  }

  private func sendState(_ item: TimelineItem) -> SendState {
    switch item.pendingChange {
    case .edit(let delivery)?, .redaction(let delivery)?: sendState(delivery)
    case nil: sendState(item.delivery)
    }
  }

  private func sendState(_ delivery: Delivery) -> SendState {
    switch delivery {
    case .received, .sent: .sent
    case .queued, .held: .queued
    case .uploading, .sending: .sending
    case .failed: .failed
    }
  }

  /// How far an own message has come.
  private func receipt(_ item: TimelineItem, _ room: Room, _ unread: Int) -> ReceiptState {
    guard item.sender == app.userID, item.isMessage else { return .hidden }
    switch item.delivery {
    case .sent: return .sent
    case .received: return unread >= 0 && unread < room.joinedMemberCount - 1 ? .read : .sent
    case .queued, .held, .uploading, .sending, .failed: return .hidden
    }
  }

  // MARK: Around the body

  private func surroundings(_ item: TimelineItem, _ room: Room, _ readers: [UserID]) -> Surroundings? {
    let shownReaders = readers.filter { $0 != item.sender && $0 != app.userID }
    let (delay, warning, origin) = (delay(item), warning(item, room), origin(item, room))
    guard
      !origin.utf8.isEmpty || warning != nil || item.replyTo != nil || item.thread != nil || !item.reactions.isEmpty
        || !shownReaders.isEmpty
        || !delay.utf8.isEmpty
    else { return nil }
    var around = Surroundings(header: origin, footer: delay, warning: warning, readerCount: shownReaders.count)
    around.readers = shownReaders.prefix(Surroundings.readersLimit).map { sender($0, in: room) }
    if item.replyTo != nil { around.reply = quote(item.quoted, room) }
    around.reactions = item.reactions.map { reaction($0, room) }
    if let thread = item.thread {
      around.thread = ThreadChip(
        replyCount: thread.count, lastSender: thread.latest.map { sender($0.sender, in: room) },
        lastText: thread.latest.map { short($0.content, room) } ?? "",
        isUnread: item.eventID.map { room.unreadCounts.threads[$0] != nil } ?? false)
    }
    return around
  }

  /// Whose words were forwarded. A name that is unknown here is what others say, so it may not look like somebody else's ID.
  private func origin(_ item: TimelineItem, _ room: Room) -> String {
    guard case .message(let message) = item.content, let origin = message.origin else { return "" }
    let user = origin.sender
    if room.membership(of: user) != nil { return Strings[.forwardedFrom, room.displayName(of: user).string] }
    let name = origin.name.flatMap { ShownName.isMisleading($0, of: user) ? nil : ShownName.visible($0) } ?? ""
    return Strings[.forwardedFrom, name.isEmpty ? user.string : name.string]
  }

  /// Something is off with what it shows.
  private func warning(_ item: TimelineItem, _ room: Room) -> Warning? {
    guard case .message = item.content, let trust = item.trust, var words = Strings.words(for: trust) else { return nil }
    if trust == .notProven, let giver = item.keyGiver {
      words = Strings[.keyFromInviter, room.displayName(of: giver).string]
    }
    return Warning(words, isSerious: trust.concern == .serious)
  }

  /// Why it is not sent yet, and when it will be, where the server takes no more for a while.
  private func delay(_ item: TimelineItem) -> String {
    if case .held(let time) = item.delivery { return Strings[.heldMessage, Host.clockLabel(time)] }
    return ""
  }

  private func quote(_ quoted: QuotedEvent?, _ room: Room) -> ReplyQuote {
    switch quoted {
    case .event(let user, let content)?: ReplyQuote(sender: sender(user, in: room), text: short(content, room))
    case .unavailable?: ReplyQuote(sender: nil, text: Strings[.replyUnavailable])
    case .loading?, nil: ReplyQuote(sender: nil, text: "…")
    }
  }

  private func reaction(_ reaction: ClientCore.Reaction, _ room: Room) -> Messenger.Reaction {
    Messenger.Reaction(
      key: reaction.key.string, source: MediaURI(reaction.key).map { app.emojiSource($0) }, count: reaction.count,
      isOwn: reaction.isOwn, people: names(reaction.senders, room))
  }

  /// The first of them by name.
  func names(_ users: [UserID], _ room: Room) -> String {
    var shown = users.prefix(RowMaker.reactorsLimit).map {
      $0 == app.userID ? Strings[.youName] : room.displayName(of: $0).string
    }
    if users.count > shown.count { shown.append(Strings[.others, count: users.count - shown.count]) }
    return Strings.list(shown)
  }

  /// A message in a line.
  func short(_ content: TimelineItem.Content, _ room: Room) -> String {
    switch content {
    case .message(let message):
      guard let rich = rich(message, room) else { return Strings.short(message) }
      return rich.plain(limit: 300)
    case .redacted: return Strings[.removedMessage]
    case .undecryptable: return Strings[.encryptedMessage]
    case .call(let call): return Strings.words(for: call)
    case .verification: return Strings[.verificationRequest]
    case .custom(let event): return event.text?.string ?? ""
    case .state, .unparsable, .gap: return ""
    }
  }
}

extension TimelineItem {
  var isUndecryptable: Bool {
    if case .undecryptable = content { return true }
    return false
  }

  /// Not a quiet line or a gap.
  var hasMessageRow: Bool {
    switch content {
    case .message, .redacted, .call, .verification, .undecryptable, .custom, .unparsable: true
    case .state, .gap: false
    }
  }

  /// Something somebody said, whether it can be shown or not.
  var isMessage: Bool {
    switch content {
    case .message, .call, .verification, .undecryptable, .custom, .unparsable: true
    case .state, .redacted, .gap: false
    }
  }
}
