import ClientCore
import Messenger
import PageWidgets
import PageWords

/// A question before something that cannot be taken back.
struct ConfirmDialog<D: DOM> {
  /// - Parameters:
  ///   - action: what the button says.
  ///   - command: what is asked of the client; the dialog closes when it is done.
  init(
    _ app: App<D>, _ question: Strings.Key, note: String = "", action: Strings.Key, busy: Strings.Key, _ command: Command,
    in frame: DialogFrame<D>, _ then: @escaping () -> Void = {}
  ) {
    self.init(
      app, Strings[question], note: note, action: action, busy: busy, in: frame, run: { [app] in app.save(command, $0) }, then)
  }

  /// - Parameter run: does it and says how it ended.
  init(
    _ app: App<D>, _ question: Strings.Key, note: String = "", action: Strings.Key, busy: Strings.Key,
    in frame: DialogFrame<D>, run: @escaping (@escaping (ClientError?) -> Void) -> Void, _ then: @escaping () -> Void
  ) {
    self.init(app, Strings[question], note: note, action: action, busy: busy, in: frame, run: run, then)
  }

  /// - Parameter run: does it and says how it ended.
  init(
    _ app: App<D>, _ question: String, note: String = "", action: Strings.Key, busy: Strings.Key, in frame: DialogFrame<D>,
    run: @escaping (@escaping (ClientError?) -> Void) -> Void, _ then: @escaping () -> Void
  ) {
    let dom = app.dom
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
      run { error in
        if let error {
          guard frame.isOpen else { return }
          act.setBusy(false)
          return dom.setText(trouble, Strings.words(for: error))
        }
        frame.close()
        then()
      }
    }
  }
}
