import ClientCore
import ClientHost
import EncryptionLink
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// What can be done with a message; opened by its context menu, by its button, by Enter.
struct MessageMenu<D: DOM> {
  enum Choice {
    case reply, thread, forward, react, edit, copy, link, select, pin, unpin, save, unsave, endPoll, voters, sticker, reactors,
      info, unread, report, deleteForMe, delete, retry, cancel, askDevices, verifyHere
  }

  private let conversation: Conversation<D>
  private var app: App<D> { conversation.app }

  init(_ conversation: Conversation<D>) { self.conversation = conversation }

  /// False where there is nothing to choose: the browser's own menu opens.
  func open(for item: TimelineItem) -> Bool {
    let groups = groups(for: item).filter { !$0.isEmpty }
    guard !groups.isEmpty else { return false }
    app.dialogs.open(as: .menu) { frame in
      let menu = Menu(Host.dateTimeLabel(item.timestampMilliseconds), in: frame)
      if case .failed(let error) = item.delivery { menu.note(Strings.words(for: error)) }
      if groups[0].contains(.react), let room = conversation.feed.key?.room {
        menu.addSigns(app.emoji.habits.quick, label: { Strings[.reactWith, $0] }) {
          conversation.react(ByteString($0), to: RowID(item.id), in: room)
        }
      }
      for (index, group) in groups.enumerated() {
        if index > 0 { menu.divide() }
        for choice in group {
          let (words, icon) = look(of: choice)
          menu.add(words, icon, key: choice.key, isDangerous: choice == .delete) { run(choice, item) }
        }
      }
    }
    return true
  }

  /// What a key does with the message that has the focus; false if it does nothing.
  func run(key: String, on item: TimelineItem) -> Bool {
    let key = key.asciiLowercased
    for group in groups(for: item) {
      for choice in group where choice.key?.asciiLowercased.hasSameBytes(as: key) ?? false {
        run(choice, item)
        return true
      }
    }
    return false
  }

  /// Answering; copying; what it is and what became of it; getting rid of it.
  private func groups(for item: TimelineItem) -> [[Choice]] {
    guard let key = conversation.feed.key, let room = conversation.feed.room else { return [] }
    switch item.delivery {
    case .failed: return [[.retry, .cancel], ofText(item)]
    case .queued, .held, .uploading: return [ofText(item), [.cancel]]
    case .sending: return [ofText(item)]
    case .received, .sent: break
    }
    var answers: [Choice] = []
    let canWrite = app.canWrite(in: room)
    if item.eventID != nil, item.isMessage, canWrite {
      answers += [.reply, .react]
      if case .thread = key.focus {} else { answers.append(.thread) }
    }
    if canWrite, conversation.canEdit(item) { answers.append(.edit) }
    if item.eventID != nil, item.isForwardable, app.embedding == nil { answers.append(.forward) }
    guard let event = item.eventID else { return [answers, ofText(item)] }
    return [answers + unlocking(item), ofText(item) + [.link] + choosing(item), about(item, event, room), ending(item, room)]
  }

  /// What can bring the key of a message.
  private func unlocking(_ item: TimelineItem) -> [Choice] {
    guard case .undecryptable(let reason) = item.content, let state = app.effects.encryption.state, state.hasIdentity else {
      return []
    }
    return switch reason {
    case .waiting, .historyUnavailable, .withheld: [state.isVerified ? .askDevices : .verifyHere]
    case .beforeJoining, .unsignedDevice, .identityChanged, .replayed, .damaged: []
    }
  }

  private func ofText(_ item: TimelineItem) -> [Choice] {
    guard case .message(let message) = item.content, !message.body.isEmpty else { return [] }
    return [.copy]
  }

  private func choosing(_ item: TimelineItem) -> [Choice] {
    item.isMessage && app.embedding?.isReadOnly != true ? [.select] : []
  }

  private func about(_ item: TimelineItem, _ event: EventID, _ room: Room) -> [Choice] {
    var choices: [Choice] = []
    if item.isMessage, app.canWrite(in: room), let user = app.userID,
      room.powerLevels?.canSend(.pinnedEvents, isState: true, by: user) ?? true
    {
      choices.append(room.pinnedEvents.contains(event) ? .unpin : .pin)
    }
    if item.isMessage, app.embedding == nil { choices.append(room.hasSaved(event) ? .unsave : .save) }
    if case .message(let message) = item.content {
      if let poll = message.poll, poll.showsVotes, poll.voterCount > 0 { choices.append(.voters) }
      if message.kind == .image || message.kind == .sticker, message.attachment?.source != nil { choices.append(.sticker) }
      if let poll = message.poll, poll.endedAtMilliseconds == nil, room.mayDelete(item, as: app.userID) {
        choices.append(.endPoll)
      }
    }
    if !item.reactions.isEmpty { choices.append(.reactors) }
    if item.isOthersMessage(than: app.userID), conversation.feed.isLive, app.embedding == nil { choices.append(.unread) }
    choices.append(.info)
    return choices
  }

  private func ending(_ item: TimelineItem, _ room: Room) -> [Choice] {
    var choices: [Choice] = []
    if item.sender != app.userID { choices.append(.report) }
    if item.isMessage { choices.append(.deleteForMe) }
    if item.isMessage, room.mayDelete(item, as: app.userID) { choices.append(.delete) }
    return choices
  }

  private func look(of choice: Choice) -> (Strings.Key, Drawing) {
    switch choice {
    case .reply: (.reply, .reply)
    case .thread: (.replyInThread, .thread)
    case .forward: (.forward, .forward)
    case .react: (.react, .smile)
    case .edit: (.edit, .pencil)
    case .copy: (.copyText, .copy)
    case .link: (.copyLink, .link)
    case .select: (.select, .select)
    case .save: (.saveMessage, .bookmark)
    case .unsave: (.savedRemove, .bookmark)
    case .pin: (.pin, .pin)
    case .unpin: (.unpin, .pin)
    case .endPoll: (.endPoll, .check)
    case .voters: (.voters, .people)
    case .sticker: (.makeSticker, .picture)
    case .reactors: (.reactions, .people)
    case .info: (.messageInfo, .info)
    case .unread: (.unreadFromHere, .unread)
    case .report: (.report, .flag)
    case .deleteForMe: (.deleteForMe, .eyeOff)
    case .delete: (.delete, .bin)
    case .retry: (.retry, .again)
    case .cancel: (.cancelSending, .close)
    case .askDevices: (.askDevices, .device)
    case .verifyHere: (.confirmYou, .shield)
    }
  }

  private func run(_ choice: Choice, _ item: TimelineItem) {
    guard let key = conversation.feed.key else { return }
    let room = key.room
    switch choice {
    case .reply: conversation.writer.reply(to: item)
    case .thread: if let event = item.threadRoot ?? item.eventID { conversation.onThread?(event) }
    case .forward: app.dialogs.open { ForwardDialog(conversation, [item], in: $0) }
    case .react: conversation.pickReaction(RowID(item.id))
    case .edit: conversation.writer.edit(item)
    case .copy: if case .message(let message) = item.content { conversation.copy(message.body.string) }
    case .link: if let event = item.eventID { copyLink(event, room) }
    case .select: conversation.feed.timeline.select(RowID(item.id))
    case .save: if let event = item.eventID { app.saved.set([event], true, in: room) }
    case .unsave: if let event = item.eventID { app.saved.set([event], false, in: room) }
    case .pin: if let event = item.eventID { app.askOrSay(.sending(.pin(room, event))) }
    case .unpin: if let event = item.eventID { app.askOrSay(.sending(.unpin(room, event))) }
    case .endPoll:
      app.askOrSay(
        .sending(.endPoll(room, poll: conversation.target(RowID(item.id)), text: ByteString(Strings[.pollEndedText]))))
    case .voters: conversation.showVoters(RowID(item.id))
    case .sticker: makeSticker(item)
    case .reactors: conversation.showReactors(RowID(item.id))
    case .retry: app.retry(item, in: room)
    case .cancel: app.ask(.sending(.cancel(room, .item(item.id))))
    case .askDevices: app.askDevices(for: room)
    case .verifyHere: app.verifications.confirmYou()
    case .info, .unread, .report, .deleteForMe, .delete: ask(choice, item, room)
    }
  }

  private func makeSticker(_ item: TimelineItem) {
    guard case .message(let message) = item.content, let file = message.attachment else { return }
    app.changeStickers(adding: ImagePack.Image(file)) { [app] result in
      switch result {
      case .success: app.notices.show(.stickerMade)
      case .failure(let error): app.notices.show(Strings.words(for: error), isTrouble: true)
      }
    }
  }

  /// Marks as unread from there and closes the room, because a message in view counts as read.
  private func markUnread(_ item: TimelineItem, _ room: RoomID) {
    let feed = conversation.feed
    guard let source = feed.source, let index = source.index(of: item.id) else { return }
    app.askOrSay(.reading(.markUnread(room, true, after: source.items[..<index].last { $0.eventID != nil }?.eventID)))
    app.goTo(.list)
  }

  private func copyLink(_ event: EventID, _ room: RoomID) {
    conversation.copy(Permalink(.room(room), event: event, via: app.client.servers(of: room)).matrixTo.string)
  }

  /// Choices with a dialog of their own.
  private func ask(_ choice: Choice, _ item: TimelineItem, _ room: RoomID) {
    switch choice {
    case .unread: markUnread(item, room)
    case .info: app.dialogs.open { MessageInfo(conversation, item, in: $0) { showSource(item, room) } }
    case .report:
      guard let event = item.eventID else { return }
      app.dialogs.open {
        ReportDialog(app, .reportTitle, in: $0) { .report(event, in: room, reason: $0) }
      }
    case .deleteForMe:
      guard let event = item.eventID else { return }
      app.dialogs.open {
        ConfirmDialog(
          app, Strings[.deleteForMeQuestion], note: Strings[.deleteForMeNote], action: .deleteForMe, busy: .removing,
          .timeline(.removeForMe(room, event)), in: $0)
      }
    default:
      app.dialogs.open {
        ConfirmDialog(
          app, Strings[.deleteQuestion], action: .delete, busy: .removing,
          .sending(.redact(room, conversation.target(RowID(item.id)), reason: nil)), in: $0)
      }
    }
  }

  private func showSource(_ item: TimelineItem, _ room: RoomID) {
    guard let event = item.eventID else { return }
    let app = app
    app.ask(.timeline(.loadEvent(room, event))) { result in
      switch result {
      case .event(let source): TextDialog(app, Strings[.source], [Indented.json(source.bytes)], isCode: true)
      case .failed(let error): app.notices.show(Strings.words(for: error), isTrouble: true)
      default: break
      }
    }
  }
}

extension MessageMenu.Choice {
  /// The key that does the same while the message has the focus.
  var key: String? {
    switch self {
    case .reply: "R"
    case .react: "A"
    case .thread: "T"
    case .forward: "F"
    case .edit: "E"
    case .copy: "C"
    case .pin, .unpin: "P"
    case .save, .unsave: "S"
    case .unread: "U"
    case .info: "I"
    case .delete: "Delete"
    default: nil
    }
  }

  /// Those that the list of shortcuts has, with their words.
  static var withKeys: [(keys: String, words: Strings.Key)] {
    [
      ("R", .reply), ("A", .react), ("T", .replyInThread), ("F", .forward), ("E", .edit), ("C", .copyText), ("P", .pin),
      ("S", .saveMessage), ("U", .unreadFromHere), ("I", .messageInfo), ("Delete", .delete)
    ]
  }
}

extension TimelineItem {
  /// A message that says the same elsewhere.
  var isForwardable: Bool {
    guard case .message(let message) = content else { return false }
    return message.kind != .liveLocation
  }
}
