import Messenger
import PageWidgets

/// What a written text can be given by a key or a button. `Web/keys.js` does it, with Markdown.
struct TextMark {
  /// As the script knows it.
  let name: String
  let words: Strings.Key
  let keys: String
  private let outline: String

  static var all: [TextMark] {
    [
      TextMark(
        name: "bold", words: .bold, keys: "Ctrl B",
        outline: "M8 5 H12.5 a3.4 3.4 0 0 1 0 6.8 H8 Z M8 11.8 H13.5 a3.6 3.6 0 0 1 0 7.2 H8 Z"),
      TextMark(name: "italic", words: .italic, keys: "Ctrl I", outline: "M10.5 5 H17 M7 19 H13.5 M14 5 L10 19"),
      TextMark(
        name: "strike", words: .strikeThrough, keys: "Ctrl ⇧ X",
        outline:
          "M4.5 12 H19.5 M16 7.5 C15 4 8 4 8 8 C8 9.4 8.8 10.3 10 11 M8 16 C9 20 16.5 20 16.5 15.8 C16.5 14.6 16 14 15.5 13"
      ),
      TextMark(name: "code", words: .code, keys: "Ctrl E", outline: "M8.5 7 L3.5 12 L8.5 17 M15.5 7 L20.5 12 L15.5 17"),
      TextMark(name: "quote", words: .quote, keys: "Ctrl ⇧ 9", outline: "M5 5 V19 M9.5 7 H20 M9.5 12 H20 M9.5 17 H16"),
      TextMark(
        name: "list", words: .bulletList, keys: "Ctrl ⇧ 8",
        outline: "M9.5 6 H20 M9.5 12 H20 M9.5 18 H20 M4.8 6 V6.1 M4.8 12 V12.1 M4.8 18 V18.1"),
      TextMark(name: "link", words: .link, keys: "Ctrl ⇧ L", outline: Drawing.link.outline)
    ]
  }

  /// Buttons for all of them. They are seen while the box is marked: by the button beside the text, or as some of the text is chosen.
  static func addButtons<D: DOM>(_ dom: D, above composer: Composer<D>, in box: Node) {
    let bar = dom.element("div", "ma-marks", in: box)
    dom.setAttribute(bar, "role", "toolbar")
    dom.setLabel(bar, .formatting)
    for mark in all {
      let button = dom.button("ma-round ma-round-small", label: Strings[mark.words], in: bar)
      dom.setAttribute(button, "title", Strings[mark.words] + " · " + mark.keys)
      dom.setAttribute(button, "data-mark", mark.name)
      dom.drawing(mark.outline, in: button)
    }
    var isOpen = false
    let button = composer.addButton(.format, Strings[.formatting], atEnd: true) {}
    dom.setClass(button, "mg-composer-button ma-roomy")
    let show = {
      dom.setFlag(box, "data-marks", isOpen)
      dom.setAttribute(button, "aria-pressed", isOpen ? "true" : "false")
      dom.flush()
    }
    dom.on(button, .click) { _ in
      isOpen = !isOpen
      show()
    }
    show()
  }
}
