import ClientCore
import MatrixModel
import Messenger
import PageWidgets
import PageWords

extension DialogFrame {
  /// Asks for what leads into a room: closes the dialog and goes there, or says in `trouble` what went wrong.
  func enterRoom(
    _ app: App<D>, by command: Command, _ button: SubmitButton<D>, _ trouble: Node,
    entered: @escaping (RoomID) -> Void = { _ in },
    failed: @escaping () -> Void = {}
  ) {
    button.setBusy(true)
    app.ask(command) { [self] result in
      switch result {
      case .room(let room):
        close()
        app.goTo(.room(room))
        entered(room)
      case .done, .event, .unread, .timeline, .queued: close()
      case .failed(let error):
        guard isOpen else { return }
        button.setBusy(false)
        dom.setText(trouble, Strings.words(for: error))
        failed()
      }
    }
    dom.flush()
  }
}
