import ClientCore
import ClientHost
import JSON
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// What a click on something in a message opens.
extension Conversation {
  // MARK: Files

  private func message(_ row: RowID) -> MessageContent? {
    guard case .message(let message)? = feed.item(row)?.content else { return nil }
    return message
  }

  /// The message whose file that part of the row shows: its own, or one of a gallery.
  func file(_ row: RowID, part: Int, item: Int) -> MessageContent? {
    guard let message = message(row) else { return nil }
    guard message.kind == .gallery else { return message.attachment == nil ? nil : message }
    let pictures = message.gallery.filter { $0.isPicture }
    let others = message.gallery.filter { !$0.isPicture }
    if part == 0, pictures.indices.contains(item) { return pictures[item] }
    let index = pictures.isEmpty ? part : part - 1
    return others.indices.contains(index) ? others[index] : nil
  }

  func openMedia(_ row: RowID, part: Int, item: Int) {
    guard let message = file(row, part: part, item: item), let clicked = picture(message) else { return }
    var pictures: [ImageViewer<D>.Picture] = []
    var index: Int?
    for entry in feed.source?.items ?? [] {
      guard case .message(let content) = entry.content else { continue }
      for shown in content.kind == .gallery ? content.gallery : [content] where shown.isPicture {
        guard let picture = picture(shown) else { continue }
        if index == nil, picture.source.hasSameBytes(as: clicked.source) { index = pictures.count }
        pictures.append(picture)
      }
    }
    app.dialogs.open { frame in
      if let index {
        _ = ImageViewer(app, pictures, at: index, in: frame)
      } else {
        _ = ImageViewer(app, [clicked], at: 0, in: frame)
      }
    }
  }

  private func picture(_ message: MessageContent) -> ImageViewer<D>.Picture? {
    guard let file = message.attachment, let source = address(file, of: message) else { return nil }
    return ImageViewer<D>.Picture(
      source: source, name: file.fileName.string, isVideo: message.kind == .video,
      download: app.mediaSource(file))
  }

  /// The file at hand, if this browser can show it, else the one on the server.
  private func address(_ file: Attachment, of message: MessageContent) -> String? {
    if message.kind != .image || file.width ?? 0 > 0, let blob = file.blob, let url = app.effects.blobs.url(blob) { return url }
    return app.mediaSource(file)
  }

  func download(_ message: MessageContent, in row: RowID) {
    guard let file = message.attachment, let url = app.mediaSource(file), let item = feed.item(row)?.id else { return }
    app.download(url, named: file.fileName.string) { [self] in feed.renew(item: item) }
  }

  // MARK: People, rooms, places

  func open(_ user: UserID) {
    guard let room = feed.key?.room else { return }
    let app = app
    app.dialogs.open(as: .popover) { MemberDialog(app, user, in: room, at: $0) }
  }

  func open(mention id: String) {
    if let target = Permalink.Target(ByteString(id)) { open(Permalink(target)) }
  }

  /// Links to people, rooms and messages stay in the page, and so does what leads nowhere else.
  func open(link url: String, in row: RowID) -> Bool {
    if url.utf8.first == UInt8(ascii: "#") {
      onSearch?(url)
      return true
    }
    if url.utf8.starts(with: "date:".utf8) {
      openDate(Array(url.utf8.dropFirst(5)), row)
      return true
    }
    if app.followInviteLink(url) { return true }
    guard let link = Permalink(ByteString(url)) else { return false }
    open(link)
    return true
  }

  /// Opens a link. A click alone never joins a room: if the user is not in it, the page asks first.
  private func open(_ link: Permalink) {
    if case .user(let user) = link.target { return open(user) }
    if link.event == nil, !app.isIn(link.target) { app.showInvite(to: link) } else { app.follow(Destination(link)) }
  }

  /// A day, or a moment of it: for the calendar, and where it is past for a look at what was said then.
  private func openDate(_ date: [UInt8], _ row: RowID) {
    guard let room = feed.room, let item = feed.item(row),
      let number = CalendarDay(String(decoding: date.prefix(10), as: UTF8.self))?.number
    else { return }
    let day = Host.startOfDay(number)
    app.dialogs.open { frame in
      frame.setTitle(Host.dayLabel(day) + " " + String(decoding: date.dropFirst(11), as: UTF8.self))
      let buttons = dom.element("div", "ma-buttons", in: frame.body)
      if let onDay, day < Host.wallClockMilliseconds(), Host.startOfDay(number + 1) > room.madeAtMilliseconds ?? 0 {
        let go = dom.button("ma-button", .messagesOfDay, in: buttons)
        dom.on(go, .click) { _ in
          frame.close()
          onDay(day)
        }
      }
      let save = dom.button("ma-button ma-primary", .calendarEntry, in: buttons)
      frame.setFirst(save)
      dom.on(save, .click) { [self] _ in
        Host.saveEvent(at: String(decoding: date, as: UTF8.self), named: feed.rows.short(item.content, room))
        frame.close()
      }
    }
  }

  func openLocation(_ row: RowID) {
    guard let message = message(row), let uri = message.location?.uri ?? message.liveLocation?.position?.uri else { return }
    let numbers = uri.text.utf8.dropFirst(4).prefix { $0 != UInt8(ascii: ";") }.split(separator: UInt8(ascii: ","))
    guard numbers.count >= 2 else { return }
    let (latitude, longitude) = (String(decoding: numbers[0], as: UTF8.self), String(decoding: numbers[1], as: UTF8.self))
    Host.open(
      url: "https://www.openstreetmap.org/?mlat=" + latitude + "&mlon=" + longitude + "#map=15/" + latitude + "/" + longitude)
  }

  // MARK: Who

  func showReactors(_ row: RowID) {
    guard let item = feed.item(row) else { return }
    showPeople(Strings[.reactions], item.reactions.map { ($0.key, $0.senders) })
  }

  /// Of a poll whose votes can be seen.
  func showVoters(_ row: RowID) {
    guard let poll = message(row)?.poll else { return }
    showPeople(Strings[.voters], poll.answers.filter { !$0.voters.isEmpty }.map { ($0.text, $0.voters) })
  }

  private func showPeople(_ title: String, _ groups: [(what: ByteString, users: [UserID])]) {
    guard let room = feed.room else { return }
    app.dialogs.open { frame in
      frame.setTitle(title)
      for group in groups {
        let line = dom.element("p", "ma-reactors", in: frame.body)
        dom.element("span", "ma-reactors-key", text: group.what.string, in: line)
        dom.element("span", text: feed.rows.names(group.users, room), in: line)
      }
    }
  }

  func showReaders(_ row: RowID) {
    guard let item = feed.item(row) else { return }
    app.dialogs.open(as: .popover) { frame in
      frame.setTitle(.readers)
      listReaders(MessageInfo<D>.readers(of: item, in: feed), in: frame.body)
    }
  }

  /// - Parameter isAt: whether they have read up to here and no further: the time is when they read this.
  func listReaders(_ users: [UserID], in parent: Node, isAt: (UserID) -> Bool = { _ in true }) {
    guard let room = feed.room else { return }
    let list = dom.element("div", "ma-members", in: parent)
    for user in users {
      let line = dom.button("ma-member", in: list)
      let name = room.displayName(of: user).string
      let time = isAt(user) ? room.readTime(of: user) : nil
      dom.fill(
        line, id: user.string, name, time.map { Host.dateTimeLabel($0) }, source: app.avatarSource(room.avatar(of: user)))
      dom.on(line, .click) { [self] _ in open(user) }
    }
  }

  // MARK: Sound

  func play(_ row: RowID, _ part: Int) { sound.play(row, part) { source(row, part) } }
  func seek(_ row: RowID, _ part: Int, _ fraction: Double) { sound.seek(row, part, fraction) { source(row, part) } }

  private func source(_ row: RowID, _ part: Int) -> String? {
    file(row, part: part, item: 0).flatMap { message in message.attachment.flatMap { address($0, of: message) } }
  }
}

extension Attachment {
  /// Whether the server has it.
  var isThere: Bool { source != nil || encrypted != nil }
}

extension MessageContent {
  var isPicture: Bool { kind == .image || kind == .video }
}
