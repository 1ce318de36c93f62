import Messenger

/// Below a list that the server sends: it loads the next page or, after a failure, tries again. Hidden if there is nothing to load.
final class MoreButton<D: DOM> {
  var onPress: () -> Void = {}
  private(set) var isShown = false
  private let dom: D
  private let button: SubmitButton<D>
  private let words: Strings.Key
  private let busyWords: Strings.Key

  init(_ dom: D, _ words: Strings.Key = .showMore, busy: Strings.Key, in parent: Node) {
    self.dom = dom
    self.words = words
    busyWords = busy
    button = SubmitButton(dom, words, busy: busy, kind: "ma-wide", in: parent)
    dom.setAttribute(button.node, "type", "button")
    setShown(false)
    dom.on(button.node, .click) { [self] _ in if !button.isBusy { onPress() } }
  }

  var isBusy: Bool { button.isBusy }

  /// Something is being loaded. A button that was pressed stays, for it has the focus.
  func begin() { button.setBusy(true) }

  func end(hasMore: Bool) {
    show(words)
    setShown(hasMore)
  }

  func fail() {
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
