/// Writes rows into their elements.
final class RowFiller<D: DOM> {
  let dom: D
  let options: TimelineOptions
  let builder: PartBuilder<D>
  /// Class lists by kind and decoration, each in the one place its key leads to; what stood there is made again when needed.
  private var classes = [(key: UInt32, atom: Atom)](repeating: (.max, Atom(id: 0)), count: 512)
  private let label: Atom
  private let url: Atom
  private let position: Atom
  private let setSize: Atom
  private let expanded: Atom
  private let avatars: [Atom], names: [Atom]

  init(_ dom: D, _ options: TimelineOptions) {
    self.dom = dom
    self.options = options
    builder = PartBuilder(dom, options)
    label = dom.atom("aria-label")
    url = dom.atom("href")
    position = dom.atom("aria-posinset")
    setSize = dom.atom("aria-setsize")
    expanded = dom.atom("aria-expanded")
    avatars = (0..<Initials.colourCount).map { dom.atom("mg-avatar mg-colour-\($0)") }
    names = (0..<Initials.colourCount).map { dom.atom("mg-name mg-colour-\($0)") }
  }

  func fill(_ view: RowView, _ row: TimelineRow, _ decor: Decor, _ context: PartContext) {
    dom.setClass(view.node, classList(view.kind, decor))
    let date = decor.contains(.date) ? options.dayLabel(row.timestampMilliseconds) : ""
    let divider = decor.contains(.divider) ? options.phrases.newMessagesDivider : ""
    set(view, .date, date)
    set(view, .divider, divider)
    let above = aloud(date) + aloud(divider) + aloud(decor.contains(.selected) ? options.phrases.selected : "")
    switch row.content {
    case .line(let text): fillLine(view, text, above, button: nil)
    case .fold(let text, let isOpen):
      fillLine(view, text, above, button: isOpen ? options.phrases.hideChanges : options.phrases.showChanges)
      dom.setAttribute(view.slot(.retry), expanded, isOpen ? "true" : "false")
    case .offer(let text, let button):
      fillLine(view, text, above, button: button)
      dom.removeAttribute(view.slot(.retry), expanded)
    case .gap(let state):
      set(view, .text, text(of: state))
      dom.setAttribute(view.node, label, above + text(of: state))
      dom.setFlag(view.slot(.retry), "hidden", state == .loading)
    case .message(let message): fill(view, message, above, row.timestampMilliseconds, decor, context)
    }
  }

  /// What stands above a row, as it is said before it.
  @inline(never)
  private func aloud(_ words: String) -> String { words.utf8.isEmpty ? "" : words + ". " }

  /// - Parameter button: its words; nil for a line without one.
  private func fillLine(_ view: RowView, _ text: String, _ above: String, button: String?) {
    set(view, .text, text)
    dom.setAttribute(view.node, label, above + text)
    guard button != nil || view.folds else { return }
    view.folds = button != nil
    dom.setFlag(view.slot(.retry), "hidden", button == nil)
    dom.setText(view.slot(.retry), button ?? "")
  }

  private func text(of gap: FetchState) -> String {
    switch gap {
    case .idle, .onDemand: options.phrases.gap
    case .loading: options.phrases.loading
    case .failed: options.phrases.loadingFailed
    }
  }

  /// Tells ears which row it is, of how many; −1 where nobody knows.
  func number(_ view: RowView, of count: Int) {
    if view.position != view.index + 1 {
      view.position = view.index + 1
      dom.setAttribute(view.node, position, "\(view.position)")
    }
    if view.setSize != count {
      view.setSize = count
      dom.setAttribute(view.node, setSize, "\(count)")
    }
  }

  /// Lets go of what a row that left the page still holds.
  func empty(_ view: RowView) {
    if view.hasAvatar {
      dom.setImage(view.slot(.avatarImage), nil)
      view.hasAvatar = false
    }
    dropLinks(view)
    dropParts(view, from: 0)
    dropBelow(view)
    view.signature = nil
  }

  // MARK: Messages

  private func fill(
    _ view: RowView, _ message: MessageRow, _ above: String, _ time: Int64, _ decor: Decor, _ context: PartContext
  ) {
    let clock = options.clockLabel(time)
    let showsName = decor.contains(.first) && !decor.contains(.own)
    let showsAvatar = decor.contains(.avatar)
    set(view, .name, showsName ? message.sender.name : "")
    if showsName { dom.setClass(view.slot(.name), names[message.sender.colour]) }
    setRole(view, showsName ? message.sender.role : "")
    set(view, .initials, showsAvatar ? message.sender.initials : "")
    if showsAvatar {
      dom.setClass(view.slot(.avatar), avatars[message.sender.colour])
      dom.setAttribute(view.slot(.avatar), label, message.sender.name)
    }
    setAvatar(view, showsAvatar ? message.sender.avatar : nil)
    set(view, .time, clock)
    set(view, .unread, message.unreadMembers > 0 ? "\(message.unreadMembers)" : "")
    if message.unreadMembers > 0 {
      dom.setAttribute(view.slot(.unread), label, options.phrases.unreadMembers(message.unreadMembers))
    }
    set(view, .edited, message.isEdited ? options.phrases.edited : "")
    dom.setAttribute(view.node, label, above + SpokenRow.sentence(message, clock: clock, options.phrases))
    fillBody(view, message, decor, context)
    fillBelow(view, message, decor)
  }

  /// How far it has come, in a word.
  private func progress(of message: MessageRow) -> String {
    switch message.sendState {
    case .sending: options.phrases.sending
    case .queued: options.phrases.queued
    case .failed: ""
    case .sent:
      switch message.receipt {
      case .hidden: ""
      case .sent: options.phrases.sent
      case .delivered: options.phrases.delivered
      case .read: options.phrases.read
      }
    }
  }

  private func fillBody(_ view: RowView, _ message: MessageRow, _ decor: Decor, _ context: PartContext) {
    fillParts(view, message, decor, context)
    switch message.body {
    case .text(let text), .notice(let text): setLinked(view, text)
    case .emote(let text): setLinked(view, message.sender.name + " " + text)
    case .redacted: setLinked(view, options.phrases.redacted)
    case .undecryptable(let why): setLinked(view, why.utf8.isEmpty ? options.phrases.undecryptable : why)
    case .unsupported(let text): setLinked(view, text.utf8.isEmpty ? options.phrases.unsupported : text)
    case .parts: setLinked(view, "")
    }
  }

  /// The style sheet draws it behind the name.
  private func setRole(_ view: RowView, _ role: String) {
    let hasRole = !role.utf8.isEmpty
    guard hasRole || view.hasRole else { return }
    dom.setAttribute(view.slot(.name), "data-role", role)
    view.hasRole = hasRole
  }

  private func setAvatar(_ view: RowView, _ source: String?) {
    guard source != nil || view.hasAvatar else { return }
    dom.setImage(view.slot(.avatarImage), source)
    view.hasAvatar = source != nil
  }

  // MARK: Parts

  private func fillParts(_ view: RowView, _ message: MessageRow, _ decor: Decor, _ context: PartContext) {
    let around = message.surroundings
    var context = context
    var place = 0
    if let around, !around.header.utf8.isEmpty { put(builder.header(around.header), view, &place) }
    if let reply = around?.reply, !decor.contains(.beneath) { put(builder.quote(reply), view, &place) }
    view.partsBeforeBody = place
    if case .parts(let parts, let tone) = message.body {
      if tone == .emote { context.prefix = message.sender.name + " " }
      for part in parts.prefix(RowFiller.partsLimit) {
        if view.parts.indices.contains(place), view.signature != nil, builder.update(view.parts[place], part, context) {
          place += 1
        } else {
          put(builder.build(part, context), view, &place)
        }
        context.prefix = ""
      }
    }
    dropParts(view, from: place)
  }

  /// Parts of one message that are drawn.
  private static var partsLimit: Int { 100 }

  /// Puts a part in its place; what stood there goes.
  private func put(_ part: PartView, _ view: RowView, _ place: inout Int) {
    if view.parts.indices.contains(place) {
      let old = view.parts[place]
      dom.insert(part.node, into: view.slot(.parts), before: old.node)
      release(old)
      view.parts[place] = part
    } else {
      dom.append(part.node, to: view.slot(.parts))
      view.parts.append(part)
    }
    place += 1
  }

  private func dropParts(_ view: RowView, from place: Int) {
    while view.parts.count > place { release(view.parts.removeLast()) }
  }

  private func release(_ part: PartView) {
    part.letGo?()
    dom.release(part.node)
  }

  private func fillBelow(_ view: RowView, _ message: MessageRow, _ decor: Decor) {
    dropBelow(view)
    let progress = decor.contains(.told) ? progress(of: message) : ""
    guard let below = builder.below(message.surroundings, progress: progress, isRead: message.receipt == .read) else { return }
    dom.append(below.node, to: view.slot(.below))
    view.below = below
  }

  private func dropBelow(_ view: RowView) {
    guard let below = view.below else { return }
    release(below)
    view.below = nil
  }

  // MARK: Text

  private func set(_ view: RowView, _ slot: Slot, _ text: String) {
    let bit = UInt32(1) << UInt32(slot.rawValue)
    let isEmpty = text.utf8.isEmpty
    if isEmpty && view.filled & bit == 0 { return }
    dom.setText(view.slot(slot), text)
    view.filled = isEmpty ? view.filled & ~bit : view.filled | bit
  }

  private func setLinked(_ view: RowView, _ text: String) {
    dropLinks(view)
    let look = TextLook(text)
    if look != view.textLook {
      view.textLook = look
      dom.setClass(view.slot(.text), look == .plain ? "mg-text" : look == .large ? "mg-text mg-large" : "mg-text mg-clipped")
    }
    guard let segments = builder.segments(of: text) else {
      set(view, .text, text)
      return
    }
    set(view, .text, "")
    for segment in segments {
      builder.addSegment(segment, in: view.slot(.text)) { view.links.append(($0, segment.url)) }
    }
  }

  private func dropLinks(_ view: RowView) {
    guard !view.links.isEmpty else { return }
    view.links.removeAll()
    dom.releaseChildren(of: view.slot(.text))
  }

  func classList(_ kind: RowKind, _ decor: Decor) -> Atom {
    let key = decor.rawValue << 2 | UInt32(kind.rawValue)
    let place = Int((key &* 2_654_435_769) >> 23)
    if classes[place].key == key { return classes[place].atom }
    let made = dom.atom(decor.classList(kind))
    classes[place] = (key, made)
    return made
  }
}
