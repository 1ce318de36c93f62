import Messenger
import WebHost

/// What fills a page over the whole window: its chapters in a column, and beside it the one that is chosen. On a phone there is room for one of the two:
/// first for the list, then for the chapter, with a way back.
package final class Chapters<D: DOM> {
  package struct Chapter {
    let title: Strings.Key
    let icon: Drawing
    /// Makes what is in it, when it is first looked at.
    let make: (Node) -> Void

    package init(_ title: Strings.Key, _ icon: Drawing, _ make: @escaping (Node) -> Void) {
      self.title = title
      self.icon = icon
      self.make = make
    }
  }

  private let dom: D
  private let body: Node
  private let tabs: Tabbed<D>
  private let chapters: [Chapter]
  private let pages: [Node]
  private var isMade: [Bool]

  /// - Parameters:
  ///   - first: the title of the chapter that is shown first; else the first one is, and on a phone the list.
  ///   - frame: opened with the style `page`.
  package init(_ chapters: [Chapter], at first: Strings.Key? = nil, in frame: DialogFrame<D>) {
    dom = frame.dom
    self.chapters = chapters
    body = frame.body
    tabs = Tabbed(dom, isColumn: true, in: frame.body)
    for chapter in chapters { tabs.add(chapter.title, chapter.icon) }
    let place = dom.element("div", "ma-chapter-place", in: frame.body)
    let back = dom.button("ma-button ma-narrow-only ma-chapter-back", .chaptersAll, icon: .back, in: place)
    pages = chapters.map { chapter in
      let page = frame.dom.element("section", "ma-page", in: place)
      frame.dom.setLabel(page, chapter.title)
      frame.dom.setFlag(page, "hidden", true)
      return page
    }
    isMade = chapters.map { _ in false }
    if let first = chapters.firstIndex(where: { $0.title == first }) { tabs.select(first) }
    tabs.onChange = { [self] _ in show() }
    tabs.onPress = { [self] _ in
      setOpen(true)
      // The list is gone on a phone, and what was pressed with it.
      if Host.pageState.contains(.narrow) { dom.focus(back) }
    }
    dom.on(back, .click) { [self] _ in
      setOpen(false)
      tabs.focus()
      dom.flush()
    }
    setOpen(first != nil)
    show()
  }

  private func setOpen(_ isOpen: Bool) { dom.setClass(body, isOpen ? "ma-dialog-body ma-in-chapter" : "ma-dialog-body") }

  private func show() {
    let selected = tabs.selected
    for (index, page) in pages.enumerated() { dom.setFlag(page, "hidden", index != selected) }
    guard !isMade[selected] else { return }
    isMade[selected] = true
    dom.element("h3", "ma-chapter-title", text: chapters[selected].title, in: pages[selected])
    chapters[selected].make(pages[selected])
  }
}
