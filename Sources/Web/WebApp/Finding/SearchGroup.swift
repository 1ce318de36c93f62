import Messenger
import PageWidgets
import WebHost

/// A part of what was found: a heading, and what can be chosen below it. Hidden while there is nothing in it.
final class SearchGroup<D: DOM> {
  /// What a line does when it is chosen.
  struct Option {
    let node: Node
    fileprivate let number: Int
    let choose: () -> Void
  }

  private(set) var options: [Option] = []
  let node: Node
  private let dom: D
  let list: Node
  private let name: String
  private var lastNumber = -1

  /// - Parameter name: of the list in the page.
  init(_ dom: D, _ title: Strings.Key, name: String, in parent: Node) {
    self.dom = dom
    self.name = name
    node = dom.element("section", "ma-found-group", in: parent)
    dom.element("h2", "ma-found-title", text: title, in: node)
    list = dom.element("div", in: node)
    dom.setAttribute(list, "id", name)
    dom.setAttribute(list, "role", "listbox")
    dom.setLabel(list, title)
    setHidden(true)
  }

  func setHidden(_ isHidden: Bool) { dom.setFlag(node, "hidden", isHidden) }

  func clear() {
    dom.releaseChildren(of: list)
    options = []
    lastNumber = -1
  }

  /// Adds a line, before another one or at the end. Returns its node.
  func add(_ classes: String, before sibling: Node = .none, _ choose: @escaping () -> Void) -> Node {
    let option = dom.element("div", classes, in: list)
    lastNumber += 1
    dom.setAttribute(option, "role", "option")
    dom.setAttribute(option, "id", "\(name)-\(lastNumber)")
    dom.setAttribute(option, "aria-selected", "false")
    dom.on(option, .click) { _ in choose() }
    let place = options.firstIndex { $0.node == sibling }
    if place != nil { dom.insert(option, into: list, before: sibling) }
    options.insert(Option(node: option, number: lastNumber, choose: choose), at: place ?? options.count)
    return option
  }

  /// The `id` of an option; nil if it is of another group.
  func id(of option: Node) -> String? { options.first { $0.node == option }.map { "\(name)-\($0.number)" } }
}
