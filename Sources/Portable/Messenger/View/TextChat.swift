/// What a text chat is like.
public struct TextChatConfiguration {
  public enum Look {
    /// Bubbles with tails, in grey and blue.
    case standard
    /// As the style sheet has it.
    case house
    /// Every message is drawn by the host; the payload is its text, `spoken` its sender's name and the text.
    case custom(ContentRenderer)
  }

  /// Who writes here.
  public var senderID: String
  public var alias: String
  /// Unicode scalars; longer texts cannot be sent, and a counter says so.
  public var maximumLength = 1000
  /// Empty shows no title bar.
  public var title = ""
  public var hasCloseButton = false
  public var look = Look.standard
  /// Own messages wait for `TextChat.setState` before they count as sent.
  public var confirmsSending = false
  public var options = TimelineOptions()

  public init(senderID: String, alias: String) {
    self.senderID = senderID
    self.alias = alias
    options.actions = []
  }
}

/// Why a text was not sent.
public enum SendError: Error, Equatable, Sendable {
  case empty
  /// By so many Unicode scalars.
  case tooLong(by: Int)
  case notConnected
  /// The host's callback refused, or there is no callback.
  case refused
}

/// A text chat beside something else, such as a call: a title bar, messages, a box to write in. The host carries the texts.
public final class TextChat<D: DOM> {
  /// A text on its way to the host.
  public struct Outgoing {
    public var text: String
    public var senderID: String
    public var alias: String
    /// Milliseconds since 1970, UTC.
    public var timestampMilliseconds: Int64
    /// Its row, for `setState`.
    public var handle: RowHandle
  }

  public let view: MessengerView<D>
  /// The component's element. It fills its container.
  public let root: Node
  public let configuration: TextChatConfiguration

  /// Asked before a text is sent; false leaves it in the box.
  public var onReadyToSend: ((Outgoing) -> Bool)?
  public var onClose: (() -> Void)?
  /// Told of each try of something, and how it ended.
  public var onMeasure: ((Measure) -> Void)?

  private let dom: D
  private let now: () -> Int64
  private let own: Sender
  private var others: [Sender] = []
  /// Own rows that are not confirmed.
  private var pending: [(handle: RowHandle, text: String)] = []
  private var nextID: UInt64 = 1
  private(set) var isConnected = true

  public init(
    dom: D, configuration: TextChatConfiguration, now: @escaping () -> Int64,
    composer: MessengerView<D>.ComposerMaker? = nil
  ) {
    self.dom = dom
    self.now = now
    self.configuration = configuration
    own = Sender(id: configuration.senderID, name: configuration.alias, isOwn: true)
    root = dom.element("section", "mg-chat")
    view = MessengerView(
      dom: dom, options: configuration.options, now: now,
      composer: composer
        ?? MessengerView<D>.standardComposer(configuration.options.phrases, maximumLength: configuration.maximumLength))
    if !configuration.title.utf8.isEmpty || configuration.hasCloseButton { addTitleBar() }
    dom.append(view.root, to: root)
    switch configuration.look {
    case .house: break
    case .standard: view.setBubbles(.standard)
    case .custom(let renderer): view.timeline.register(content: TextChat.cell, renderer)
    }
    view.onSubmit = { [self] text in send(text) == nil }
    // Of what is sent the chat knows more than the box.
    view.onMeasure = { [self] measure in if measure.action != .send { onMeasure?(measure) } }
  }

  private static var cell: String { "text-chat-cell" }

  private func addTitleBar() {
    let bar = dom.element("header", "mg-chat-bar", in: root)
    dom.element("h2", "mg-chat-title", text: configuration.title, in: bar)
    guard configuration.hasCloseButton else { return }
    let close = dom.element("button", "mg-chat-close", in: bar)
    dom.setAttribute(close, "type", "button")
    dom.setAttribute(close, "aria-label", configuration.options.phrases.closeChat)
    Icon.close.draw(dom, in: close)
    dom.on(close, .click) { [self] _ in
      measure(.close, .attempt)
      onClose?()
      measure(.close, onClose == nil ? .failure : .success)
    }
  }

  // MARK: Sending

  /// Sends as if it had been written in the box. The message is there at once. nil is success.
  @discardableResult
  public func send(_ text: String) -> SendError? {
    measure(.send, .attempt)
    let error = deliver(text)
    if error != nil { measure(.send, .failure) } else if !configuration.confirmsSending { measure(.send, .success) }
    return error
  }

  private func measure(_ action: Measure.Action, _ outcome: Measure.Outcome) { onMeasure?(Measure(action, outcome)) }

  private func deliver(_ text: String) -> SendError? {
    let length = text.unicodeScalars.count
    if text.trimmed.utf8.isEmpty { return .empty }
    guard length <= configuration.maximumLength else { return .tooLong(by: length - configuration.maximumLength) }
    guard isConnected else { return .notConnected }
    let handle = newHandle()
    let outgoing = Outgoing(
      text: text, senderID: own.id, alias: own.name, timestampMilliseconds: now(), handle: handle)
    guard onReadyToSend?(outgoing) == true else { return .refused }
    if configuration.confirmsSending { pending.append((handle, text)) }
    let state = configuration.confirmsSending ? SendState.sending : .sent
    view.add(
      NewRow(content(own, text, state), timestampMilliseconds: outgoing.timestampMilliseconds, id: handle.id),
      scroll: .toEnd)
    return nil
  }

  /// What became of a sent text. Unknown handles are harmless.
  public func setState(_ handle: RowHandle, _ state: SendState) {
    guard let index = pending.firstIndex(where: { $0.handle == handle }) else { return }
    view.update(handle, content(own, pending[index].text, state))
    if state == .failed { measure(.send, .failure) }
    guard state == .sent else { return }
    pending.remove(at: index)
    measure(.send, .success)
  }

  /// Without a connection nothing can be written; what is in the box stays there.
  public func setConnected(_ isConnected: Bool, note: String? = nil) {
    self.isConnected = isConnected
    measure(isConnected ? .connect : .disconnect, .success)
    view.composer.setEnabled(isConnected, isConnected ? nil : note)
  }

  // MARK: Receiving

  /// A message that came in. The sender's identity decides the side. One of the own identity that repeats a text which waits for its
  /// confirmation is that confirmation, and is not shown twice.
  /// - Parameter timestampMilliseconds: nil is now.
  @discardableResult
  public func addMessage(
    _ text: String, senderID: String, alias: String, timestampMilliseconds: Int64? = nil
  ) -> RowHandle {
    let isOwn = senderID.hasSameBytes(as: own.id)
    measure(.receive, .success)
    if isOwn, let index = pending.firstIndex(where: { $0.text.hasSameBytes(as: text) }) {
      let handle = pending[index].handle
      setState(handle, .sent)
      return handle
    }
    let sender = isOwn ? own : other(senderID, alias)
    return view.add(
      NewRow(content(sender, text, .sent), timestampMilliseconds: timestampMilliseconds, id: newHandle().id))
  }

  private func other(_ id: String, _ alias: String) -> Sender {
    for other in others where other.id.hasSameBytes(as: id) && other.name.hasSameBytes(as: alias) { return other }
    let sender = Sender(id: id, name: alias, isOwn: false)
    others.append(sender)
    if others.count > 1000 { others.removeFirst() }
    return sender
  }

  private func newHandle() -> RowHandle {
    defer { nextID += 1 }
    return RowHandle(RowID(nextID))
  }

  private func content(_ sender: Sender, _ text: String, _ state: SendState) -> TimelineRow.Content {
    var body = MessageRow.Body.text(text)
    if case .custom = configuration.look {
      body = .parts([.custom(CustomContent(kind: TextChat.cell, payload: text, spoken: text))])
    }
    return .message(MessageRow(sender: sender, body: body, sendState: state))
  }

  public func close() {
    view.close()
    dom.release(root)
    dom.flush()
  }
}
