import JSON
import Messenger

/// Builds elements of a description: a text, or `{ tag, element, attributes, style, children }`. What is not on the lists here is left out;
/// its children are not.
final class DrawingBuilder<D: DOM> {
  private static var depthLimit: Int { 24 }
  private static var elementsLimit: Int { 600 }

  private let dom: D
  private let focused: Int64?
  private let onClick: (Int64) -> Void
  private var count = 0

  /// - Parameters:
  ///   - focused: the number of the button that gets the keyboard.
  ///   - onClick: a button was pressed, by the number of its element.
  init(_ dom: D, focused: Int64?, _ onClick: @escaping (Int64) -> Void) {
    self.dom = dom
    self.focused = focused
    self.onClick = onClick
  }

  func build(_ tree: JSON, in parent: Node) { build(tree, in: parent, depth: 0) }

  private func build(_ value: JSON, in parent: Node, depth: Int) {
    guard depth < DrawingBuilder.depthLimit, count < DrawingBuilder.elementsLimit else { return }
    if let text = value.string {
      count += 1
      dom.element("span", text: text, in: parent)
    } else if let tag = value.text("tag"), let known = DrawingNames.name(tag, in: DrawingNames.tags) {
      count += 1
      let node = dom.element(known, in: parent)
      dress(node, value, tag)
      // A text alone needs no element of its own.
      if let only = onlyText(value) { dom.setText(node, only) } else { fill(node, value, depth) }
    } else {
      fill(parent, value, depth)
    }
  }

  private func fill(_ node: Node, _ value: JSON, _ depth: Int) {
    guard let children = value["children"] else { return }
    for child in children.elements { build(child, in: node, depth: depth + 1) }
  }

  private func onlyText(_ value: JSON) -> String? {
    guard let children = value["children"], children.count == 1 else { return nil }
    var first = children.elements
    return first.next()?.string
  }

  private func dress(_ node: Node, _ value: JSON, _ tag: ByteString) {
    if let attributes = value["attributes"] {
      for member in attributes.members { if let text = member.value.string { set(member.key, text, on: node, tag) } }
    }
    if let style = value["style"] {
      for member in style.members { if let text = member.value.string { dom.setStyle(node, member.key.string, text) } }
    }
    guard tag == "button", let number = value.integer("element") else { return }
    dom.setAttribute(node, "type", "button")
    dom.on(node, .click) { [onClick] _ in onClick(number) }
    if number == focused { dom.focus(node) }
  }

  private func set(_ name: ByteString, _ text: String, on node: Node, _ tag: ByteString) {
    if tag == "a", name == "href" {
      if LinkScanner.isSafe(text) { link(node, text) }
    } else if tag == "img", name == "src" {
      // Not by `setImage`: of an account's pictures none is fetched for a page.
      dom.setAttribute(node, "src", text)
    } else if let name = DrawingNames.name(name, in: DrawingNames.attributes) {
      dom.setAttribute(node, name, text)
    }
  }

  private func link(_ node: Node, _ url: String) {
    dom.setAttribute(node, "href", url)
    dom.setAttribute(node, "target", "_blank")
    dom.setAttribute(node, "rel", "noopener noreferrer")
  }
}

/// What is built; nothing else is.
private enum DrawingNames {
  static let tags: [StaticString] = [
    "div", "span", "p", "b", "strong", "i", "em", "u", "s", "small", "mark", "code", "pre", "ul", "ol", "li", "dl", "dt", "dd",
    "h1", "h2",
    "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td", "caption", "figure", "figcaption", "section", "header",
    "footer",
    "blockquote", "time", "progress", "meter", "br", "hr", "img", "a", "button"
  ]
  static let attributes: [StaticString] = [
    "title", "alt", "dir", "lang", "role", "value", "max", "min", "low", "high", "optimum", "datetime", "colspan", "rowspan",
    "scope",
    "start", "disabled", "aria-label", "aria-hidden", "aria-pressed", "aria-expanded", "aria-checked", "aria-disabled"
  ]

  /// The name as it stands in the list: nothing else becomes one.
  static func name(_ wanted: ByteString, in list: [StaticString]) -> String? {
    for name in list where wanted == name { return ByteString(stringLiteral: name).string }
    return nil
  }
}
