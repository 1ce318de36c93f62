import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// The composer of a room or a thread: Markdown, what it answers or edits, completions, commands, files, the draft.
final class Writer<D: DOM> {
  private static var lengthLimit: Int { 10_000 }

  let app: App<D>
  let dom: D
  let composer: Composer<D>
  private(set) var key: TimelineKey?
  /// What is written, and what for.
  private(set) var kind = Draft.Kind.message
  /// Who wrote what is answered: they are told.
  private var answered: UserID?
  /// Something was written that comes at the end.
  var onSent: (() -> Void)?
  /// False where there is nothing to edit.
  var onEditLast: (() -> Bool)?
  /// What is said in a thread is said in the room as well, as a reply to its root.
  private var isAlsoInRoom = false
  let box: Node
  private let banner: Node
  private let bannerText: Node
  private lazy var completions = Completions(self, in: box)
  private(set) lazy var crowd = Crowd(app)
  private let preview: WriterPreview<D>
  /// Says how often one may send, where the room has members wait.
  private var pace: TextView<D>
  var recorder: VoiceRecorder<D>?

  init(_ rows: RowMaker<D>, _ phrases: Phrases, in parent: Node) {
    app = rows.app
    dom = app.dom
    box = dom.element("div", "ma-writer", in: parent)
    dom.markPart(box)
    banner = dom.element("div", "ma-writer-banner", in: box)
    bannerText = dom.element("span", "ma-writer-text", in: banner)
    let cancel = dom.button("ma-round ma-round-small", icon: .close, label: .cancel, in: banner)
    preview = WriterPreview(rows, in: box)
    composer = Composer(dom: dom, phrases: phrases)
    composer.maximumLength = Writer.lengthLimit
    TextMark.addButtons(dom, above: composer, in: box)
    dom.append(composer.root, to: box)
    pace = TextView(dom, "p", "ma-note ma-pace", in: box)
    dom.setAttribute(pace.node, "role", "status")
    composer.acceptDrops(on: parent)
    dom.setFlag(banner, "hidden", true)
    dom.on(cancel, .click) { [self] _ in reset(clearing: isEdit) }
    composer.onSend = { [self] in send($0) }
    composer.onDraft = { [self] _ in changed() }
    composer.onAttach = { [self] in Host.pickFiles { self.took($0) } }
    composer.onFiles = { [self] in took($0) }
    composer.addButton(.plus, Strings[.sendMore]) { [self] in openMenu() }
    composer.addButton(.smile, Strings[.emoji], atEnd: true) { [self] in pickEmoji() }
    let microphone = composer.addButton(.microphone, Strings[.voiceMessage], atEnd: true) { [self] in recordVoice() }
    dom.setClass(microphone, "mg-composer-button ma-microphone")
    dom.on(microphone, .hold) { [self] in held($0.x) }
    dom.listen(composer.send, .contextMenu) { [self] _ in
      openSendMenu()
      return .preventDefault
    }
    composer.onKey = { [self] in pressed($0) }
    preview.onVeto = { [self] in composer.focus() }
    crowd.onChange = { [self] in completions.moreNames() }
  }

  func close() {
    recorder?.close()
    key = nil
    crowd.forget()
    preview.takeUp("")
    composer.close()
  }

  var room: Room? { key.flatMap { app.client.room($0.room) } }
  /// The root of the thread it writes in.
  var thread: EventID? {
    if case .thread(let root)? = key?.focus { return root }
    return nil
  }

  private var isEdit: Bool {
    if case .edit = kind { return true }
    return false
  }

  // MARK: Which room

  /// Takes up the draft of that place.
  func show(_ key: TimelineKey?) {
    if key != self.key { recorder?.close() }
    if case .thread? = key?.focus, self.key == nil {
      dom.check(Strings[.alsoInRoom], isOn: false, in: box) { [self] in isAlsoInRoom = $0 }
    }
    self.key = key
    completions.hide()
    crowd.forget()
    takeUpDraft()
  }

  /// Another device of the account wrote on, or sent it.
  func draftChanged() {
    let draft = room?.draft(in: thread)
    let isSame = ByteString(composer.text) == draft?.text ?? "" && kind == draft?.kind ?? .message
    if !isSame { takeUpDraft() }
  }

  private func takeUpDraft() {
    kind = .message
    answered = nil
    let draft = room?.draft(in: thread)
    put(draft?.text.string ?? "")
    guard let room, let draft else { return showBanner() }
    if draft.text.utf8.contains(UInt8(ascii: "@")) { crowd.gather(room) }
    kind = draft.kind
    showBanner()
    switch draft.kind {
    case .message: break
    case .reply(let event), .edit(let event):
      guard let index = room.timeline.index(of: event) else { break }
      if case .reply = draft.kind { answered = room.timeline.items[index].sender }
      showBanner(room.timeline.items[index])
    }
  }

  func setCanWrite(_ mayWrite: Bool) {
    let canWrite = mayWrite && app.embedding?.isReadOnly != true
    dom.setFlag(box, "hidden", !canWrite)
    composer.setEnabled(canWrite)
    guard let room else { return pace.set("") }
    let time = room.slowModeMilliseconds
    let isBound = time > 0 && !app.may(.sendState(Room.slowModeType), in: room.id)
    pace.set(isBound ? Strings[.slowModeNote, Strings.words(forMilliseconds: time)] : "")
  }

  func membersChanged(_ users: [UserID]) { crowd.changed(users) }

  // MARK: Replies and edits

  func reply(to item: TimelineItem) {
    guard let event = item.eventID else { return }
    if isEdit { put("") }
    kind = .reply(to: event)
    answered = item.sender
    begin(item)
  }

  /// Names a member where the caret is.
  func mention(_ user: UserID) {
    guard let room else { return }
    crowd.gather(room)
    let isKnown = room.membership(of: user) != nil
    let person = isKnown ? PeopleFinder.Person(user, shownAs: room.displayName(of: user)) : crowd.finder.person(user)
    let caret = min(composer.caret, composer.text.utf8.count)
    let isJoined = caret > 0 && Array(composer.text.utf8)[caret - 1] > 0x20
    composer.replace(caret..<caret, with: (isJoined ? " @" : "@") + crowd.choose(person) + " ")
    composer.focus()
  }

  func edit(_ item: TimelineItem) {
    guard let event = item.eventID, case .message(let message) = item.content else { return }
    kind = .edit(of: event)
    answered = nil
    // Two slashes are one that means itself.
    put((message.kind == .emote ? "/me " : message.body.hasPrefix("/") ? "/" : "") + message.body.string, message.unpreviewed)
    begin(item)
  }

  private func begin(_ item: TimelineItem) {
    showBanner(item)
    save()
    composer.focus()
  }

  private func showBanner(_ item: TimelineItem? = nil) {
    dom.setFlag(banner, "hidden", kind == .message)
    switch kind {
    case .message: dom.setText(bannerText, "")
    case .edit: dom.setText(bannerText, .editing)
    case .reply:
      let name = item.flatMap { item in room?.displayName(of: item.sender).string } ?? ""
      var text = ""
      if case .message(let message)? = item?.content { text = Strings.short(message) }
      dom.setText(bannerText, Strings[.replyingTo, name, text])
    }
    dom.flush()
  }

  func reset(clearing: Bool) {
    kind = .message
    answered = nil
    if clearing { put("") }
    showBanner()
    save()
    composer.focus()
  }

  /// - Parameter unpreviewed: addresses in it of which nobody shall be shown a preview.
  private func put(_ text: String, _ unpreviewed: [ByteString] = []) {
    composer.setText(text)
    preview.takeUp(text, unpreviewed)
    if text.utf8.contains(UInt8(ascii: ":")) { loadEmoticons() }
  }

  private func changed() {
    preview.update(composer.text, in: room)
    save()
    completions.update()
  }

  private func save() {
    guard let key else { return }
    app.ask(.sending(.setDraft(key.room, thread: thread, Draft(ByteString(composer.text), kind: kind))))
  }

  // MARK: Keys

  private func pressed(_ event: PageEvent) -> EventReply {
    if completions.pressed(event) == .preventDefault { return .preventDefault }
    switch event.key {
    case .escape where kind != .message:
      reset(clearing: isEdit)
      return .preventDefault
    case .arrowUp where composer.text.utf8.isEmpty && kind == .message && event.modifiers.isEmpty:
      return onEditLast?() == true ? .preventDefault : .pass
    default: return .pass
    }
  }

  // MARK: Sending

  private func send(_ text: String) -> Bool {
    guard let key, let room else { return false }
    completions.hide()
    let written: Written
    switch SlashCommand(text) {
    case .message(let message): written = message
    case .unknown(let name, let rest):
      if app.embedding?.run(name, rest) == true { return settled() }
      app.notices.show(Strings[.unknownCommand, name], isTrouble: true)
      return false
    case .wrong(let use):
      app.notices.show(Strings[.commandUse, use], isTrouble: true)
      return false
    case .command(let make):
      guard let command = make(room) else { return false }
      app.ask(command) { [self] result in commandEnded(result) }
      return settled()
    }
    guard let embedding = app.embedding else {
      send(formatted(written.text, room, isPlain: written.isPlain), written, key)
      return true
    }
    let draft = composer.text
    embedding.ask(about: written.text, hasRules: !written.isPlain) { [self] in
      formatted($0, room, isPlain: written.isPlain)
    } then: { [self] text in
      guard key == self.key else { return }
      send(text, written, key)
      // What was written meanwhile stays.
      if composer.text.hasSameBytes(as: draft) { reset(clearing: true) }
    }
    return false
  }

  private func formatted(_ text: String, _ room: Room, isPlain: Bool) -> FormattedText {
    isPlain ? FormattedText(ByteString(text)) : markdown(text, room)
  }

  private func send(_ text: FormattedText, _ written: Written, _ key: TimelineKey) {
    var formatted = text
    formatted.unpreviewed = preview.vetoed
    if case .edit(let event) = kind {
      app.askOrSay(.sending(.edit(key.room, .event(event), formatted)))
    } else {
      var message = OutgoingMessage.message(formatted, style: written.style)
      message.isSilent = written.isSilent
      app.askOrSay(.sending(.send(key.room, addressed(message))))
      if let thread, isAlsoInRoom { sendInRoom(message.replying(to: .event(thread)), key.room) }
      onSent?()
    }
    settled()
  }

  /// The text is dealt with: what is written next answers and edits nothing. True, as `Composer.onSend` wants it.
  @discardableResult private func settled() -> Bool {
    kind = .message
    answered = nil
    showBanner()
    return true
  }

  /// Beside the thread; what stands in the room's own composer stays there.
  private func sendInRoom(_ message: OutgoingMessage, _ id: RoomID) {
    let draft = app.client.room(id)?.draft(in: nil)
    app.askOrSay(.sending(.send(id, message)))
    if let draft { app.ask(.sending(.setDraft(id, draft))) }
  }

  /// With the people that it names, and the pictures.
  func markdown(_ text: String, _ room: Room) -> FormattedText {
    FormattedText.markdown(
      ByteString(MentionWriting.linked(text, names(in: text, room))), mentions: MentionGroup.mentions(in: text, of: room, app)
    ) { [app] in app.emoticons[$0] }
  }

  /// Calls `then` when there are pictures to be named here that were not there before.
  func loadEmoticons(_ then: @escaping () -> Void = {}) {
    guard let room = key?.room else { return }
    app.loadEmoticons(of: room) { [self] in if key?.room == room { then() } }
  }

  /// Returns the people that the text may mention.
  private func names(in text: String, _ room: Room) -> [(name: [UInt8], user: UserID)] {
    guard text.utf8.contains(UInt8(ascii: "@")) else { return [] }
    crowd.gather(room)
    return crowd.names
  }

  /// In its thread, and as the reply it is.
  func addressed(_ message: OutgoingMessage) -> OutgoingMessage {
    var message = message
    if let thread {
      message = message.inThread(
        .event(thread), latest: app.client.timeline(key ?? .live(RoomID(trusted: "")))?.items.last?.eventID)
    }
    if case .reply(let event) = kind {
      message = message.replying(to: .event(event), mentioning: answered == app.userID ? nil : answered)
    }
    return message
  }

  private func commandEnded(_ result: CommandResult) {
    switch result {
    case .room(let room): app.goTo(.room(room))
    case .failed(let error): app.notices.show(Strings.words(for: error), isTrouble: true)
    default: break
    }
  }
}

/// What somebody wrote, as it is to be sent.
struct Written {
  var text: String
  var style = OutgoingMessage.Style.text
  /// Nothing in it is Markdown.
  var isPlain = false
  /// Nobody is notified of it.
  var isSilent = false
}
