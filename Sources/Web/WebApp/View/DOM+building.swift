import Messenger

/// What the screens build again and again.
extension DOM {
  /// - Parameter submits: the form that it stands in.
  @discardableResult
  func button(
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
  func avatar(_ classes: String, in parent: Node) -> AvatarView<Self> { AvatarView(self, classes, in: parent) }

  func setLabel(_ node: Node, _ text: String) { setAttribute(node, "aria-label", text) }
}

extension String {
  /// ASCII letters small; other scripts stay as they are.
  var asciiLowercased: String {
    String(decoding: Array(utf8).map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }, as: UTF8.self)
  }

  /// Whether the bytes of the other text occur in this one.
  func hasBytes(of other: String) -> Bool {
    let (text, wanted) = (Array(utf8), Array(other.utf8))
    guard !wanted.isEmpty else { return true }
    guard text.count >= wanted.count else { return false }
    for start in 0...(text.count - wanted.count) where text[start...].starts(with: wanted) { return true }
    return false
  }
}
