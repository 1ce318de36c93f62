/// Writes rows into their elements.
final class RowFiller<D: DOM> {
  let dom: D
  let options: TimelineOptions
  /// Class lists by kind and decoration, made when first needed.
  private var classes: [[Atom?]]
  private let label: Atom
  private let alt: Atom
  private let hidden: Atom
  private let value: Atom
  private let progress: Atom
  private let url: Atom
  private let avatars: [Atom]

  init(_ dom: D, _ options: TimelineOptions) {
    self.dom = dom
    self.options = options
    classes = [[Atom?]](repeating: [Atom?](repeating: nil, count: 2048), count: RowKind.count)
    label = dom.atom("aria-label")
    alt = dom.atom("alt")
    hidden = dom.atom("hidden")
    value = dom.atom("aria-valuenow")
    progress = dom.atom("--mg-progress")
    url = dom.atom("href")
    var avatars: [Atom] = []
    for colour in 0..<Initials.colourCount { avatars.append(dom.atom("mg-avatar mg-colour-\(colour)")) }
    self.avatars = avatars
  }

  func fill(_ view: RowView, _ row: TimelineRow, _ decor: Decor, width: Double) {
    dom.setClass(view.node, classList(view.kind, decor))
    set(view, .date, decor.contains(.date) ? options.dayLabel(row.timestampMilliseconds) : "")
    set(view, .divider, decor.contains(.divider) ? options.phrases.newMessagesDivider : "")
    switch row.content {
    case .line(let text): set(view, .text, text)
    case .gap(let state):
      set(
        view, .text,
        state == .loading ? options.phrases.loading : state == .idle ? options.phrases.gap : options.phrases.loadingFailed)
    case .message(let message): fill(view, message, row.timestampMilliseconds, decor, width)
    }
    if case .gap(let state) = row.content { setHidden(view.slot(.retry), state == .loading) }
  }

  /// Lets go of what a row that left the page still holds.
  func empty(_ view: RowView) {
    if view.hasImages {
      dom.setImage(view.slot(.avatarImage), nil)
      if view.kind == .image { dom.setImage(view.slot(.picture), nil) }
      view.hasImages = false
    }
    dropLinks(view)
    view.signature = nil
  }

  // MARK: Messages

  private func fill(_ view: RowView, _ message: MessageRow, _ time: Int64, _ decor: Decor, _ width: Double) {
    let clock = options.clockLabel(time)
    let showsSender = decor.contains(.first) && !decor.contains(.own)
    set(view, .name, showsSender ? message.sender.name : "")
    set(view, .initials, showsSender ? message.sender.initials : "")
    if showsSender {
      dom.setClass(view.slot(.avatar), avatars[message.sender.colour])
      dom.setAttribute(view.slot(.avatar), label, message.sender.name)
    }
    setAvatar(view, showsSender ? message.sender.avatar : nil)
    set(view, .time, decor.contains(.last) ? clock : "")
    set(view, .unread, message.unreadMembers > 0 ? "\(message.unreadMembers)" : "")
    if message.unreadMembers > 0 {
      dom.setAttribute(view.slot(.unread), label, options.phrases.unreadMembers(message.unreadMembers))
    }
    let state = stateText(message)
    set(view, .state, state)
    var spoken = message.sender.name + ", " + clock
    if !state.utf8.isEmpty { spoken += ", " + state }
    if message.sendState == .failed { spoken += ", " + options.phrases.failed }
    dom.setAttribute(view.node, label, spoken)
    fillBody(view, message, width)
  }

  private func stateText(_ message: MessageRow) -> String {
    switch message.sendState {
    case .sending: options.phrases.sending
    case .queued: options.phrases.queued
    case .sent, .failed: message.isEdited ? options.phrases.edited : ""
    }
  }

  private func fillBody(_ view: RowView, _ message: MessageRow, _ width: Double) {
    switch message.body {
    case .text(let text), .notice(let text): setLinked(view, text)
    case .emote(let text): setLinked(view, message.sender.name + " " + text)
    case .redacted: setLinked(view, options.phrases.redacted)
    case .undecryptable: setLinked(view, options.phrases.undecryptable)
    case .unsupported(let text): setLinked(view, text.utf8.isEmpty ? options.phrases.unsupported : text)
    case .image(let image):
      let box = PictureBox(width: image.width, height: image.height, timelineWidth: width)
      dom.setLength(view.slot(.open), .width, box.width)
      dom.setLength(view.slot(.open), .height, box.height)
      dom.setAttribute(view.slot(.open), label, options.phrases.openImage(image.name))
      dom.setAttribute(view.slot(.picture), alt, image.name)
      dom.setImage(view.slot(.picture), image.thumbnail)
      view.hasImages = true
      setProgress(view, image.uploadProgress)
      setLinked(view, image.caption)
    case .file(let file):
      set(view, .fileName, file.name)
      set(view, .fileDetail, file.detail)
      setProgress(view, file.uploadProgress)
    }
  }

  private func setAvatar(_ view: RowView, _ source: String?) {
    guard source != nil || view.hasImages else { return }
    dom.setImage(view.slot(.avatarImage), source)
    view.hasImages = true
  }

  private func setProgress(_ view: RowView, _ fraction: Double?) {
    if let fraction {
      // Written so that what is no number counts as nothing.
      let clamped = fraction > 0 ? min(1, fraction) : 0
      dom.setVariable(view.slot(.progressBar), progress, clamped)
      dom.setAttribute(view.slot(.progress), value, "\(Int(clamped * 100))")
    }
    if (fraction != nil) != view.hasProgress {
      view.hasProgress = fraction != nil
      setHidden(view.slot(.progress), fraction == nil)
    }
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
    guard let segments = LinkScanner.segments(of: text) else {
      set(view, .text, text)
      return
    }
    set(view, .text, "")
    let parent = view.slot(.text)
    for segment in segments {
      if segment.isLink {
        let link = dom.element("a", "mg-link", text: segment.text, in: parent)
        dom.setAttribute(link, url, segment.text)
        dom.setAttribute(link, "target", "_blank")
        dom.setAttribute(link, "rel", "noopener noreferrer")
        view.links.append((link, segment.text))
      } else {
        dom.element("span", text: segment.text, in: parent)
      }
    }
  }

  private func dropLinks(_ view: RowView) {
    guard !view.links.isEmpty else { return }
    view.links.removeAll()
    dom.releaseChildren(of: view.slot(.text))
  }

  private func setHidden(_ node: Node, _ isHidden: Bool) {
    if isHidden { dom.setAttribute(node, hidden, "") } else { dom.removeAttribute(node, hidden) }
  }

  private func classList(_ kind: RowKind, _ decor: Decor) -> Atom {
    if let known = classes[kind.rawValue][Int(decor.rawValue)] { return known }
    let made = dom.atom(decor.classList(kind))
    classes[kind.rawValue][Int(decor.rawValue)] = made
    return made
  }
}
