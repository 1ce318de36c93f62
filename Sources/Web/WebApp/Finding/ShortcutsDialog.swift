import Messenger

/// What the keyboard does beyond what every page knows.
struct ShortcutsDialog<D: DOM> {
  @discardableResult
  init(_ app: App<D>) {
    let dom = app.dom
    let known: [(keys: String, words: Strings.Key)] = [
      ("Ctrl K", .goToConversation), ("F6", .nextPart), ("↑ ↓", .nextEntry), ("Enter", .moreActions), ("Esc", .markRead),
      ("⇧ Enter", .newLine), ("↑", .editLast), ("Ctrl /", .shortcuts)
    ]
    app.dialogs.open { frame in
      frame.setTitle(.shortcuts)
      let list = dom.element("dl", "ma-shortcuts", in: frame.body)
      for (keys, words) in known + TextMark.all.map({ ($0.keys, $0.words) }) {
        dom.setAttribute(dom.element("dt", text: keys, in: list), "dir", "ltr")
        dom.element("dd", text: Strings[words], in: list)
      }
    }
  }
}
