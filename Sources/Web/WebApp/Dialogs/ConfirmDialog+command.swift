import ClientCore
import Messenger
import PageWidgets
import PageWords

extension ConfirmDialog {
  /// - Parameter command: what is asked of the client; the dialog closes when it is done.
  @discardableResult
  init(
    _ app: App<D>, _ question: String, note: String = "", action: Strings.Key, busy: Strings.Key, _ command: Command,
    in frame: DialogFrame<D>, _ then: @escaping () -> Void = {}
  ) {
    self.init(
      question, note: note, action: action, busy: busy, in: frame,
      run: { [app] ended in app.save(command) { ended($0.map { Strings.words(for: $0) }) } }, then)
  }
}
