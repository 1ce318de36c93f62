import Messenger

/// Below a list that the server sends: it loads the next page or, after a failure, tries again. Hidden if there is nothing to load.
package final class MoreButton<D: DOM> {
  package var onPress: () -> Void = {}
  package private(set) var isShown = false
  private let dom: D
  private let button: SubmitButton<D>
  private let words: Strings.Key
  private let busyWords: Strings.Key

  package init(_ dom: D, _ words: Strings.Key = .showMore, busy: Strings.Key, in parent: Node) {
    self.dom = dom
    self.words = words
    busyWords = busy
    button = SubmitButton(dom, words, busy: busy, kind: "ma-wide", in: parent)
    dom.setAttribute(button.node, "type", "button")
    setShown(false)
    dom.on(button.node, .click) { [self] _ in if !button.isBusy { onPress() } }
  }

  package var isBusy: Bool { button.isBusy }

  /// Something is being loaded. A button that was pressed stays, for it has the focus.
  package func begin() { button.setBusy(true) }

  package func end(hasMore: Bool) {
    show(words)
    setShown(hasMore)
  }

  package func fail() {
    show(.retry)
    setShown(true)
  }

  private func show(_ words: Strings.Key) {
    button.set(words, busy: busyWords)
    button.setBusy(false)
  }

  private func setShown(_ isShown: Bool) {
    self.isShown = isShown
    dom.setFlag(button.node, "hidden", !isShown)
  }
}
