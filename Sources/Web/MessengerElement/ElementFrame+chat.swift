import JSON
import Messenger
import WebHost

/// The box to write in, and the text chat: texts go to the page before they are sent.
extension ElementFrame {
  func maximumLength(_ request: JSON) -> Int { Int(clamping: max(1, request.integer("maximumLength") ?? 1000)) }

  /// nil where the page names nobody who writes here.
  func makeChat(_ request: JSON, _ options: TimelineOptions) -> MessengerView<BatchDOM>? {
    guard let id = request["senderID"]?.string else { return nil }
    var configuration = TextChatConfiguration(senderID: id, alias: request["alias"]?.string ?? id)
    configuration.maximumLength = maximumLength(request)
    configuration.title = request["title"]?.string ?? ""
    configuration.hasCloseButton = request.bool("closable") ?? false
    configuration.confirmsSending = request.bool("confirms") ?? false
    configuration.options = options
    if let look = request.text("look") {
      configuration.look = look == "house" ? .house : look == "custom" ? .custom(drawings.messages) : .standard
    }
    let isReadOnly = request.bool("readOnly") ?? false
    let made = TextChat(
      dom: dom, configuration: configuration, now: { Host.wallClockMilliseconds() },
      composer: isReadOnly ? { _, _ in .absent } : nil)
    made.onReadyToSend = { [self] outgoing in isReady(outgoing) }
    made.onClose = { [self] in tell("close") { _ in } }
    chat = made
    return made.view
  }

  /// What is the text chat's, and what a page says of the box. False for other requests.
  func converse(_ name: ByteString, _ request: JSON) -> Bool {
    switch name {
    case "enable":
      let (isOn, note) = (request.bool("on") ?? true, request["note"]?.string)
      if let chat { chat.setConnected(isOn, note: note) } else { view?.composer.setEnabled(isOn, note) }
      answer(request)
    case "taken": taken(request)
    case "send": send(request)
    case "addMessage":
      guard let chat, let sender = request["senderID"]?.string else {
        refuse(request, "There is no text chat here, or no sender.")
        return true
      }
      let handle = chat.addMessage(
        request["text"]?.string ?? "", senderID: sender, alias: request["alias"]?.string ?? sender,
        timestampMilliseconds: request.integer("time"))
      answer(request) { $0.member("value", Int64(clamping: handle.id.rawValue)) }
    case "setState":
      chat?.setState(handle(request), sendState(request))
      answer(request)
    default: return false
    }
    return true
  }

  // MARK: Sending

  /// The text stays in the box until the page has said yes.
  func ask(about text: String, _ members: (inout JSONWriter) -> Void) {
    asked = (asked.token + 1, view?.composer.text() ?? "")
    tell("send") {
      $0.member("text", text)
      $0.member("token", asked.token)
      members(&$0)
    }
  }

  private func isReady(_ outgoing: TextChat<BatchDOM>.Outgoing) -> Bool {
    if granted { return true }
    ask(about: outgoing.text) {
      $0.member("senderID", outgoing.senderID)
      $0.member("alias", outgoing.alias)
      $0.member("time", outgoing.timestampMilliseconds)
    }
    return false
  }

  private func taken(_ request: JSON) {
    guard let view, request.integer("token") == asked.token else { return answer(request) }
    if let chat { guard deliver(chat, request) else { return } } else { answer(request) }
    // What was written meanwhile stays.
    guard view.composer.text().hasSameBytes(as: asked.text) else { return }
    view.composer.setText("")
    view.composer.focus()
  }

  /// The page sends: it need not be asked.
  private func send(_ request: JSON) {
    if let chat { _ = deliver(chat, request) } else { refuse(request, "There is no text chat here: add the row.") }
  }

  private func deliver(_ chat: TextChat<BatchDOM>, _ request: JSON) -> Bool {
    granted = true
    let error = chat.send(request["text"]?.string ?? "")
    granted = false
    switch error {
    case nil: answer(request) { if let sent = chat.view.newest { $0.member("value", Int64(clamping: sent.id.rawValue)) } }
    case .empty: refuse(request, "empty")
    case .tooLong: refuse(request, "too long")
    case .notConnected: refuse(request, "not connected")
    case .refused: refuse(request, "refused")
    }
    return error == nil
  }
}
