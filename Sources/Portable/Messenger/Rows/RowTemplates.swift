/// The slots of every row template, in order.
enum Slot: Int32 {
  case date = 1
  case divider, avatar, initials, avatarImage, name, text, unread, edited, time, retry, cancel
  /// Holds the parts in the bubble, above the text.
  case parts
  /// Holds what stands below the bubble.
  case below
  /// Holds the bubble and what stands beside it.
  case pair

  static let last = Slot.pair.rawValue
}

/// One template per kind of row. A template has all slots; those a kind does not use stay empty and hidden.
struct RowTemplates<D: DOM> {
  private let templates: [Template]

  init(_ dom: D, _ options: TimelineOptions) {
    var templates: [Template] = []
    for index in 0..<RowKind.count {
      templates.append(RowTemplates.make(dom, RowKind(rawValue: index) ?? .message, options))
    }
    self.templates = templates
  }

  subscript(kind: RowKind) -> Template { templates[kind.rawValue] }

  private static func make(_ dom: D, _ kind: RowKind, _ options: TimelineOptions) -> Template {
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
      let retry = slot(.retry, "button", "mg-button", in: line)
      button(dom, retry, options.phrases.retry)
      dom.setFlag(retry, "hidden", kind == .line)
      return dom.template(root: root, slots: slots)
    }
    let main = dom.element("div", "mg-main", in: root)
    let opensSender = options.actions.contains(.openSender)
    let avatar = slot(.avatar, opensSender ? "button" : "span", "mg-avatar", in: main)
    if opensSender {
      dom.setAttribute(avatar, "type", "button")
      dom.setAttribute(avatar, "tabindex", "-1")
    } else {
      dom.setAttribute(avatar, "role", "img")
    }
    _ = slot(.initials, "span", "mg-initials", in: avatar)
    dom.setAttribute(slot(.avatarImage, "img", "mg-avatar-image", in: avatar), "alt", "")
    let column = dom.element("div", "mg-column", in: main)
    _ = slot(.name, "div", "mg-name", in: column)
    let pair = slot(.pair, "div", "mg-pair", in: column)
    let bubble = dom.element("div", "mg-bubble", in: pair)
    _ = slot(.parts, "div", "mg-parts", in: bubble)
    _ = slot(.text, "div", "mg-text", in: bubble)
    let side = dom.element("div", "mg-side", in: pair)
    dom.setAttribute(slot(.unread, "span", "mg-unread", in: side), "role", "img")
    // The row's name says it in words.
    dom.setAttribute(slot(.edited, "span", "mg-edited", in: side), "aria-hidden", "true")
    _ = slot(.time, "span", "mg-time", in: side)
    _ = slot(.below, "div", "mg-below", in: column)
    let trouble = dom.element("div", "mg-trouble", in: column)
    dom.element("span", "mg-trouble-text", text: options.phrases.failed, in: trouble)
    guard options.actions.contains(.retry) else { return dom.template(root: root, slots: slots) }
    button(dom, slot(.retry, "button", "mg-button", in: trouble), options.phrases.retry)
    button(dom, slot(.cancel, "button", "mg-button", in: trouble), options.phrases.cancel)
    return dom.template(root: root, slots: slots)
  }

  private static func button(_ dom: D, _ node: Node, _ text: String) {
    dom.setAttribute(node, "type", "button")
    dom.setText(node, text)
  }
}
