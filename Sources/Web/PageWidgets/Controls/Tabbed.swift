import Messenger
import WebHost

/// A row of choices of which one holds. Source: ARIA Authoring Practices, "Tabs".
package final class Tabbed<D: DOM> {
  package private(set) var selected = 0
  package var onChange: ((Int) -> Void)?
  /// One was pressed, as against come to by the arrows: what it opens may take the focus.
  package var onPress: ((Int) -> Void)?
  private let dom: D
  private let node: Node
  private let isColumn: Bool
  private var buttons: [Node] = []

  /// - Parameter isColumn: stands at the side, where arrows up and down lead through it too.
  package init(_ dom: D, _ titles: [Strings.Key] = [], isColumn: Bool = false, in parent: Node) {
    self.dom = dom
    self.isColumn = isColumn
    node = dom.element("div", isColumn ? "ma-chapters" : "ma-tabs", in: parent)
    dom.setAttribute(node, "role", "tablist")
    if isColumn { dom.setAttribute(node, "aria-orientation", "vertical") }
    for title in titles { add(title) }
    dom.listen(node, .keyDown) { [self] in pressed($0) }
  }

  /// One more, behind the others.
  package func add(_ title: Strings.Key, _ icon: Drawing? = nil) {
    let button = dom.button("ma-tab", title, icon: icon, in: node)
    dom.setAttribute(button, "role", "tab")
    let index = buttons.count
    buttons.append(button)
    dom.on(button, .click) { [self] _ in
      select(index)
      onPress?(index)
      dom.flush()
    }
    mark()
  }

  package func setHidden(_ isHidden: Bool) { dom.setFlag(node, "hidden", isHidden) }

  package func select(_ index: Int) {
    guard index != selected else { return }
    selected = index
    mark()
    onChange?(index)
    dom.flush()
  }

  package func focus() { dom.focus(buttons[selected]) }

  private func pressed(_ event: PageEvent) -> EventReply {
    var step: Int
    switch event.key {
    case .arrowRight: step = 1
    case .arrowLeft: step = -1
    case .arrowDown where isColumn: step = 1
    case .arrowUp where isColumn: step = -1
    default: return .pass
    }
    if !isColumn, Host.pageState.contains(.rightToLeft) { step = -step }
    select((selected + step + buttons.count) % buttons.count)
    focus()
    dom.flush()
    return .preventDefault
  }

  private func mark() {
    for (index, button) in buttons.enumerated() {
      let isSelected = index == selected
      dom.setAttribute(button, "aria-selected", isSelected ? "true" : "false")
      dom.setAttribute(button, "tabindex", isSelected ? "0" : "-1")
      dom.setClass(button, isSelected ? "ma-tab ma-selected" : "ma-tab")
    }
  }
}
