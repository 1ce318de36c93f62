/// The slots of every row template, in order. The first ten mean the same in all of them.
enum Slot: Int32 {
  case date = 1
  case divider, avatar, initials, avatarImage, name, text, unread, state, time, retry, cancel
  /// Image: the button around the picture. File: the button that opens it.
  case open
  case picture, fileName, fileDetail, progress, progressBar

  static let last = Slot.progressBar.rawValue
}

/// One template per kind of row. A template has all slots; those a kind does not use stay empty and hidden.
struct RowTemplates<D: DOM> {
  private let templates: [Template]

  init(_ dom: D, _ phrases: Phrases) {
    var templates: [Template] = []
    for index in 0..<RowKind.count {
      templates.append(RowTemplates.make(dom, RowKind(rawValue: index) ?? .text, phrases))
    }
    self.templates = templates
  }

  subscript(kind: RowKind) -> Template { templates[kind.rawValue] }

  private static func make(_ dom: D, _ kind: RowKind, _ phrases: Phrases) -> Template {
    var slots = [Node](repeating: .none, count: Int(Slot.last))
    func slot(_ slot: Slot, _ tag: String, _ classes: String, in parent: Node) -> Node {
      let node = dom.element(tag, classes, in: parent)
      slots[Int(slot.rawValue) - 1] = node
      return node
    }
    let root = dom.element("article", "mg-row " + kind.className)
    dom.setAttribute(root, "tabindex", "-1")
    _ = slot(.date, "div", "mg-date", in: root)
    _ = slot(.divider, "div", "mg-divider", in: root)
    if kind == .line || kind == .gap {
      let line = dom.element("div", "mg-line-box", in: root)
      if kind == .gap { dom.element("span", "mg-spinner", in: line) }
      _ = slot(.text, "span", "mg-line-text", in: line)
      if kind == .gap { button(dom, slot(.retry, "button", "mg-button", in: line), phrases.retry) }
      return dom.template(root: root, slots: slots)
    }
    let main = dom.element("div", "mg-main", in: root)
    let avatar = slot(.avatar, "button", "mg-avatar", in: main)
    dom.setAttribute(avatar, "type", "button")
    dom.setAttribute(avatar, "tabindex", "-1")
    _ = slot(.initials, "span", "mg-initials", in: avatar)
    dom.setAttribute(slot(.avatarImage, "img", "mg-avatar-image", in: avatar), "alt", "")
    let column = dom.element("div", "mg-column", in: main)
    _ = slot(.name, "div", "mg-name", in: column)
    let pair = dom.element("div", "mg-pair", in: column)
    let bubble = dom.element("div", "mg-bubble", in: pair)
    if kind == .image { picture(dom, bubble, slot) }
    if kind == .file { file(dom, bubble, slot) }
    _ = slot(.text, "div", "mg-text", in: bubble)
    let side = dom.element("div", "mg-side", in: pair)
    _ = slot(.unread, "span", "mg-unread", in: side)
    _ = slot(.state, "span", "mg-state", in: side)
    _ = slot(.time, "span", "mg-time", in: side)
    let trouble = dom.element("div", "mg-trouble", in: column)
    dom.element("span", "mg-trouble-text", text: phrases.failed, in: trouble)
    button(dom, slot(.retry, "button", "mg-button", in: trouble), phrases.retry)
    button(dom, slot(.cancel, "button", "mg-button", in: trouble), phrases.cancel)
    return dom.template(root: root, slots: slots)
  }

  private static func button(_ dom: D, _ node: Node, _ text: String) {
    dom.setAttribute(node, "type", "button")
    dom.setText(node, text)
  }

  private static func picture(_ dom: D, _ bubble: Node, _ slot: (Slot, String, String, Node) -> Node) {
    let open = slot(.open, "button", "mg-picture", bubble)
    dom.setAttribute(open, "type", "button")
    dom.setAttribute(slot(.picture, "img", "mg-picture-image", open), "draggable", "false")
    progress(dom, open, slot)
  }

  private static func file(_ dom: D, _ bubble: Node, _ slot: (Slot, String, String, Node) -> Node) {
    let open = slot(.open, "button", "mg-file-box", bubble)
    dom.setAttribute(open, "type", "button")
    let icon = dom.element("span", "mg-file-icon", in: open)
    Icon.document.draw(dom, in: icon)
    let lines = dom.element("span", "mg-file-lines", in: open)
    _ = slot(.fileName, "span", "mg-file-name", lines)
    _ = slot(.fileDetail, "span", "mg-file-detail", lines)
    progress(dom, bubble, slot)
  }

  private static func progress(_ dom: D, _ parent: Node, _ slot: (Slot, String, String, Node) -> Node) {
    let progress = slot(.progress, "div", "mg-progress", parent)
    dom.setAttribute(progress, "role", "progressbar")
    dom.setAttribute(progress, "aria-valuemin", "0")
    dom.setAttribute(progress, "aria-valuemax", "100")
    dom.setFlag(progress, "hidden", true)
    _ = slot(.progressBar, "div", "mg-progress-bar", progress)
  }
}
