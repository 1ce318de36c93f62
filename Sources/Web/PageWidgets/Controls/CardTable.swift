import Messenger

/// A table whose rows become cards on a phone. The roles are said again for that: a browser no longer takes what is not laid out as a
/// table for one.
package final class CardTable<D: DOM> {
  /// A row that is being filled, cell by cell; the first one names it.
  package struct Row {
    fileprivate let dom: D
    package let node: Node
    fileprivate let columns: [String]
    fileprivate var next = 0

    /// The next cell, for what is put into it. A text stands by itself: an ID keeps its sign in front among words from right to left.
    package mutating func cell(_ text: String = "", _ look: String = "") -> Node {
      let isName = next == 0
      let cell = dom.element(isName ? "th" : "td", look, in: node)
      if !text.utf8.isEmpty { dom.element("bdi", text: text, in: cell) }
      dom.setAttribute(cell, "role", isName ? "rowheader" : "cell")
      if isName { dom.setAttribute(cell, "scope", "row") }
      if next < columns.count { dom.setAttribute(cell, "data-label", columns[next]) }
      next += 1
      return cell
    }
  }

  package let node: Node
  private let dom: D
  private let rows: Node
  private let columns: [String]

  /// - Parameter columns: their headings; that of the buttons at a row's end is only said.
  package init(_ dom: D, _ label: Strings.Key, _ columns: [Strings.Key], in parent: Node) {
    self.dom = dom
    self.columns = columns.map { $0 == .adminActions ? "" : Strings[$0] }
    node = dom.element("table", "ma-table", in: parent)
    dom.setAttribute(node, "role", "table")
    dom.setLabel(node, label)
    let head = dom.element("thead", in: node)
    dom.setAttribute(head, "role", "rowgroup")
    let line = dom.element("tr", in: head)
    dom.setAttribute(line, "role", "row")
    for column in columns {
      let cell = dom.element("th", in: line)
      dom.setAttribute(cell, "role", "columnheader")
      dom.setAttribute(cell, "scope", "col")
      dom.element("span", column == .adminActions ? "ma-spoken" : "", text: column, in: cell)
    }
    rows = dom.element("tbody", in: node)
    dom.setAttribute(rows, "role", "rowgroup")
  }

  package func clear() { dom.releaseChildren(of: rows) }

  package func row() -> Row {
    let row = dom.element("tr", in: rows)
    dom.setAttribute(row, "role", "row")
    return Row(dom: dom, node: row, columns: columns)
  }

  package func setHidden(_ isHidden: Bool) { dom.setFlag(node, "hidden", isHidden) }
}
