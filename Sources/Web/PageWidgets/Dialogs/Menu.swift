import Messenger

/// A list of commands at what was pressed. Arrows, Home, End and first letters lead through it (`Web/keys.js`); a command closes it first.
package final class Menu<D: DOM> {
  private let frame: DialogFrame<D>
  private let dom: D
  private var isEmpty = true

  /// - Parameters:
  ///   - frame: opened with the style `menu`.
  ///   - title: read aloud, and the heading of the sheet on a phone.
  package init(_ title: String, in frame: DialogFrame<D>) {
    self.frame = frame
    dom = frame.dom
    frame.setTitle(title)
  }

  /// - Parameters:
  ///   - key: what does the same without the menu; shown where there is a keyboard.
  ///   - isOn: for a command that turns something on and off, or one of several that holds.
  ///   - isDangerous: it takes something away for good.
  ///   - note: tells it from others that do something like it.
  package func add(
    _ words: String, _ icon: Drawing? = nil, key: String? = nil, isOn: Bool? = nil, isDangerous: Bool = false,
    note: String? = nil, _ run: @escaping () -> Void
  ) {
    let item = dom.button(isDangerous ? "ma-menu-item ma-menu-danger" : "ma-menu-item", in: frame.body)
    if let icon { icon.draw(dom, in: item) }
    let text = dom.element("span", "ma-menu-words", text: words, in: item)
    if let note {
      dom.element("span", "ma-menu-about", text: note, in: text)
      dom.setAttribute(item, "aria-label", words)
      dom.setAttribute(item, "aria-description", note)
    }
    dom.setAttribute(item, "role", isOn == nil ? "menuitem" : "menuitemcheckbox")
    if let isOn {
      dom.setAttribute(item, "aria-checked", isOn ? "true" : "false")
      if isOn { Drawing.check.draw(dom, in: item) }
    }
    if let key {
      dom.setAttribute(dom.element("span", "ma-menu-key", text: key, in: item), "aria-hidden", "true")
      dom.setAttribute(item, "aria-keyshortcuts", key)
    }
    if isEmpty { frame.setFirst(item) }
    isEmpty = false
    dom.on(item, .click) { [frame] _ in
      frame.close()
      run()
    }
  }

  package func add(
    _ words: Strings.Key, _ icon: Drawing? = nil, key: String? = nil, isOn: Bool? = nil, isDangerous: Bool = false,
    note: Strings.Key? = nil, _ run: @escaping () -> Void
  ) {
    add(Strings[words], icon, key: key, isOn: isOn, isDangerous: isDangerous, note: note.map { Strings[$0] }, run)
  }

  /// A line of signs to choose from at once.
  package func addSigns(_ signs: [String], label: (String) -> String, _ run: @escaping (String) -> Void) {
    let line = dom.element("div", "ma-menu-signs", in: frame.body)
    dom.setAttribute(line, "role", "group")
    for sign in signs {
      let item = dom.element("button", "ma-menu-item ma-menu-sign", text: sign, in: line)
      dom.setAttribute(item, "type", "button")
      dom.setAttribute(item, "role", "menuitem")
      dom.setLabel(item, label(sign))
      dom.on(item, .click) { [frame] _ in
        frame.close()
        run(sign)
      }
    }
  }

  /// A line between two groups.
  package func divide() { dom.setAttribute(dom.element("div", "ma-menu-line", in: frame.body), "role", "separator") }

  /// What is to be known before choosing, such as why a message was not sent.
  package func note(_ words: String) {
    dom.setAttribute(dom.element("p", "ma-menu-note", text: words, in: frame.body), "role", "none")
  }
}
