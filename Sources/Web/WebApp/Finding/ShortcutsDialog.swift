import Messenger
import PageWidgets

/// What the keyboard does beyond what every page knows.
struct ShortcutList<D: DOM> {
  @discardableResult
  init(_ dom: D, in parent: Node) {
    let known: [(keys: String, words: Strings.Key)] = [
      ("Ctrl K", .searchAll), ("F6", .nextPart), ("↑ ↓", .nextEntry), ("Enter", .moreActions), ("Esc", .markRead),
      ("⇧ Enter", .newLine), ("↑", .editLast), ("Ctrl /", .shortcuts)
    ]
    // There is nothing else to focus on a page that may scroll: with the focus here the arrow keys do.
    let lists = dom.element("div", "ma-form", in: parent)
    dom.setAttribute(lists, "role", "group")
    dom.setAttribute(lists, "tabindex", "0")
    dom.setLabel(lists, .shortcuts)
    Self.add(known + TextMark.all.map { ($0.keys, $0.words) }, dom, in: lists)
    dom.element("h3", "ma-field-label", text: .messageKeys, in: lists)
    Self.add(MessageMenu<D>.Choice.withKeys, dom, in: lists)
  }

  private static func add(_ known: [(keys: String, words: Strings.Key)], _ dom: D, in parent: Node) {
    let list = dom.element("dl", "ma-shortcuts", in: parent)
    for (keys, words) in known {
      dom.setAttribute(dom.element("dt", text: keys, in: list), "dir", "ltr")
      dom.element("dd", text: Strings[words], in: list)
    }
  }
}

struct ShortcutsDialog<D: DOM> {
  @discardableResult
  init(_ app: App<D>) {
    app.dialogs.open { frame in
      frame.setTitle(.shortcuts)
      ShortcutList(app.dom, in: frame.body)
    }
  }
}
