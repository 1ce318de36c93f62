import Messenger

/// All emoji with a field to search them.
struct EmojiDialog<D: DOM> {
  @discardableResult
  init(_ app: App<D>, in frame: DialogFrame<D>, _ picked: @escaping (String) -> Void) {
    let dom = app.dom
    frame.setTitle(Strings[.emojiTitle])
    let field = Field(dom, Strings[.emojiSearch], in: frame.body)
    frame.setFirst(field.input)
    let grid = dom.element("div", "ma-emoji-grid", in: frame.body)
    let shelf = app.emoji
    func show() {
      dom.releaseChildren(of: grid)
      let found = Emoji.matching(field.text.trimmed, in: shelf.all)
      if found.isEmpty {
        dom.element("p", "ma-note", text: Strings[shelf.all.isEmpty ? .serverSilent : .noEmoji], in: grid)
      }
      for emoji in found {
        let button = dom.element("button", "ma-emoji", text: emoji.text, in: grid)
        dom.setAttribute(button, "type", "button")
        dom.setLabel(button, emoji.name)
        dom.setAttribute(button, "title", emoji.name)
        dom.on(button, .click) { _ in picked(emoji.text) }
      }
    }
    field.onInput = { show() }
    dom.listen(field.input, .keyDown) { event in
      guard case .enter = event.key, let first = Emoji.matching(field.text.trimmed, in: shelf.all, limit: 1).first else {
        return .pass
      }
      picked(first.text)
      return .preventDefault
    }
    shelf.load {
      guard frame.isOpen else { return }
      show()
      dom.flush()
    }
  }
}
