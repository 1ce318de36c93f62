import Messenger
import WebHost

/// All emoji with a field to search them.
struct EmojiDialog<D: DOM> {
  @discardableResult
  init(
    _ app: App<D>, _ title: Strings.Key = .emojiTitle, in frame: DialogFrame<D>, at parent: Node? = nil,
    _ picked: @escaping (String) -> Void
  ) {
    let dom = app.dom
    let parent = parent ?? frame.body
    frame.setTitle(Strings[title])
    let field = Field(dom, .emojiSearch, in: parent)
    frame.setFirst(field.input)
    let grid = dom.element("div", "ma-emoji-grid", in: parent)
    let shelf = app.emoji
    var tone = Host.setting(Settings.skinTone) ?? ""
    func show() {
      dom.releaseChildren(of: grid)
      let found = Emoji.matching(field.text.trimmed, in: shelf.all)
      if found.isEmpty {
        dom.element("p", "ma-note", text: Strings[shelf.all.isEmpty ? .serverSilent : .noEmoji], in: grid)
      }
      for emoji in found {
        let text = emoji.text(tone: tone)
        let button = dom.element("button", "ma-emoji", text: text, in: grid)
        dom.setAttribute(button, "type", "button")
        dom.setLabel(button, emoji.name)
        dom.setAttribute(button, "title", emoji.name)
        dom.on(button, .click) { _ in picked(text) }
      }
    }
    field.onInput = { show() }
    dom.listen(field.input, .keyDown) { event in
      guard case .enter = event.key, let first = Emoji.matching(field.text.trimmed, in: shelf.all, limit: 1).first else {
        return .pass
      }
      picked(first.text(tone: tone))
      return .preventDefault
    }
    Choice(dom, Strings[.skinTone], Emoji.tones.map { ($0, "✋" + $0) }, selected: tone, in: parent) {
      tone = $0
      Host.setSetting(Settings.skinTone, tone.utf8.isEmpty ? nil : tone)
      show()
      dom.flush()
    }
    shelf.load {
      guard frame.isOpen else { return }
      show()
      dom.flush()
    }
  }
}
