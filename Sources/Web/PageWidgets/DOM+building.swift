import Messenger

/// What the screens build again and again.
extension DOM {
  /// - Parameter submits: the form that it stands in.
  @discardableResult
  package func button(
    _ classes: String, _ text: String = "", icon: Drawing? = nil, label: String = "", submits: Bool = false, in parent: Node
  ) -> Node {
    let button = element("button", classes, in: parent)
    setAttribute(button, "type", submits ? "submit" : "button")
    icon?.draw(self, in: button)
    if !text.utf8.isEmpty { element("span", "ma-button-text", text: text, in: button) }
    if !label.utf8.isEmpty {
      setAttribute(button, "aria-label", label)
      setAttribute(button, "title", label)
    }
    return button
  }

  /// A round picture with initials below it, which show until there is one.
  package func avatar(_ classes: String, in parent: Node) -> AvatarView<Self> { AvatarView(self, classes, in: parent) }

  /// What a line of a list begins with: a picture, a name and, below it, what is said of it. Returns the name.
  @inline(never) @discardableResult
  package func fill(_ line: Node, id: String, _ name: String, _ detail: String?, source: String?) -> Node {
    avatar("ma-avatar-small", in: line).show(id: id, name: name, source: source)
    let lines = element("span", "ma-entry-lines", in: line)
    let title = element("span", "ma-entry-name", text: name, in: lines)
    if let detail { element("span", "ma-entry-preview", text: detail, in: lines) }
    return title
  }

  /// A search field without a visible label; its placeholder is also its accessible name.
  package func finder(_ words: Strings.Key, in parent: Node) -> Node {
    let field = element("input", "ma-input", in: parent)
    for (name, value) in [
      ("type", "text"), ("autocomplete", "off"), ("spellcheck", "false"), ("placeholder", Strings[words]),
      ("aria-label", Strings[words])
    ] { setAttribute(field, name, value) }
    return field
  }

  /// Something that was chosen, to be taken away by a click.
  @discardableResult
  package func chip(_ words: String, in parent: Node, _ remove: @escaping () -> Void) -> Node {
    let chip = button("ma-chip", words, label: Strings[.removeNamed, words], in: parent)
    Drawing.close.draw(self, in: chip)
    on(chip, .click) { _ in remove() }
    return chip
  }

  /// A part of the page that F6 goes to. `Web/keys.js`
  package func markPart(_ node: Node) { setAttribute(node, "data-region", "") }

  package func setLabel(_ node: Node, _ text: String) { setAttribute(node, "aria-label", text) }

  // MARK: Texts by their key

  // Never inlined: some hundred places say something.

  @inline(never) @discardableResult
  package func element(_ tag: String, _ classes: String = "", text: Strings.Key, in parent: Node) -> Node {
    element(tag, classes, text: Strings[text], in: parent)
  }

  @inline(never) @discardableResult
  package func button(_ classes: String, _ text: Strings.Key, icon: Drawing? = nil, submits: Bool = false, in parent: Node)
    -> Node
  {
    button(classes, Strings[text], icon: icon, submits: submits, in: parent)
  }

  /// A button that shows only its drawing.
  @inline(never) @discardableResult
  package func button(_ classes: String, icon: Drawing, label: Strings.Key, in parent: Node) -> Node {
    button(classes, icon: icon, label: Strings[label], in: parent)
  }

  @inline(never)
  package func setText(_ node: Node, _ text: Strings.Key) { setText(node, Strings[text]) }

  @inline(never)
  package func setLabel(_ node: Node, _ text: Strings.Key) { setLabel(node, Strings[text]) }
}

extension String {
  /// ASCII letters small; other scripts stay as they are.
  package var asciiLowercased: String {
    String(decoding: Array(utf8).map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }, as: UTF8.self)
  }
}

extension PageEvent {
  /// Where arrows, Home and End lead from that place of a list; nil for other keys, and at its ends.
  package func place(from at: Int, of count: Int) -> Int? {
    let place: Int
    switch key {
    case .arrowDown: place = at + 1
    case .arrowUp: place = at - 1
    case .home: place = 0
    case .end: place = count - 1
    default: return nil
    }
    return (0..<count).contains(place) ? place : nil
  }
}
