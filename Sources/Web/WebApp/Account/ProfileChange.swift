import ClientCore
import ClientHost
import JSON
import Messenger
import PageWidgets
import PageWords
import WebHost

/// Changes the user's picture or name from a page that shows them. Its button is busy meanwhile, and the page shows errors.
struct ProfileChange<D: DOM> {
  let app: App<D>
  let frame: DialogFrame<D>
  let trouble: Node
  /// Called with each answer, so that the page shows the current state.
  let onAnswer: () -> Void

  func pickPicture(_ button: SubmitButton<D>) {
    guard !button.isBusy else { return }
    Host.pickFiles(accept: "image/*", isMultiple: false) { files in
      guard frame.isOpen, let file = files.first else { return }
      guard file.isImage else {
        app.dom.setText(trouble, .notPicture)
        return app.dom.flush()
      }
      run(.account(.setAvatar(app.effects.blobs.add(file), mimeType: ByteString(file.mediaType))), button)
    }
  }

  func run(_ command: Command, _ button: SubmitButton<D>, _ then: @escaping () -> Void = {}) {
    guard !button.isBusy else { return }
    button.setBusy(true)
    app.dom.setText(trouble, "")
    app.ask(command) { result in
      guard frame.isOpen else { return }
      button.setBusy(false)
      onAnswer()
      if case .failed(let error) = result { app.dom.setText(trouble, Strings.words(for: error)) } else { then() }
    }
    app.dom.flush()
  }
}
