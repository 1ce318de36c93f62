import Messenger

/// A question before something that cannot be taken back.
package struct ConfirmDialog<D: DOM> {
  /// - Parameters:
  ///   - action: what the button says.
  ///   - run: does it and says how it ended: with words for what went wrong, or nil.
  ///   - then: called once it is done and the dialog is closed.
  @discardableResult
  package init(
    _ question: String, note: String = "", action: Strings.Key, busy: Strings.Key, in frame: DialogFrame<D>,
    run: @escaping (@escaping (_ trouble: String?) -> Void) -> Void, _ then: @escaping () -> Void = {}
  ) {
    let dom = frame.dom
    frame.setTitle(question)
    if !note.utf8.isEmpty { dom.element("p", "ma-note", text: note, in: frame.body) }
    let trouble = frame.trouble(in: frame.body)
    let buttons = dom.element("div", "ma-buttons", in: frame.body)
    let cancel = dom.button("ma-button", .cancel, in: buttons)
    let act = SubmitButton(dom, action, busy: busy, kind: "ma-danger", in: buttons)
    frame.setFirst(cancel)
    dom.on(cancel, .click) { _ in frame.close() }
    dom.on(act.node, .click) { _ in
      guard !act.isBusy else { return }
      act.setBusy(true)
      dom.flush()
      run { words in
        if let words {
          guard frame.isOpen else { return }
          act.setBusy(false)
          return dom.setText(trouble, words)
        }
        frame.close()
        then()
      }
    }
  }
}
