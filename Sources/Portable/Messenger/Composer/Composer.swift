/// The box a message is written in: grows with its text, Enter sends, Shift-Enter breaks the line, input methods are left alone.
public final class Composer<D: DOM> {
  public let dom: D
  /// The component's element; as wide as its container.
  public let root: Node
  public let phrases: Phrases
  /// Unicode scalars; a longer text cannot be sent and the counter says so.
  public var maximumLength = 1000
  /// Pixels up to which the box grows; then it scrolls.
  public var maximumHeight = 160.0

  /// Asked with the trimmed text before it is sent; false (or no one to ask) leaves the text in the box.
  public var onSend: ((String) -> Bool)?
  /// The text changed by typing or sending: keep it as the draft.
  public var onDraft: ((String) -> Void)?
  /// The text is not empty (true, with every change), or became empty or was sent (false).
  public var onTyping: ((Bool) -> Void)?
  /// The attach button: open the file picker.
  public var onAttach: (() -> Void)?
  /// Files were pasted, or dropped on the composer or on a node given to `acceptDrops`.
  public var onFiles: (([PickedFile]) -> Void)?
  /// Asked of every key that belongs to no input method, before the composer does anything with it.
  public var onKey: ((PageEvent) -> EventReply)?

  public private(set) var text = ""
  /// Bytes of the text before the caret, as of the last change.
  public private(set) var caret = 0
  public private(set) var isEnabled = true
  private var placeholder = ""
  /// The text field, for what a host says about it to ears.
  public let field: Node

  private let attach: Node
  private let box: Node
  /// The button that sends, for what else a host does with it.
  public let send: Node
  private let counter: Node

  public init(dom: D, phrases: Phrases = Phrases()) {
    self.dom = dom
    self.phrases = phrases
    root = dom.element("div", "mg-composer")
    attach = Composer.button(dom, "mg-composer-button mg-attach", phrases.attach, .attach, in: root)
    box = dom.element("div", "mg-field", in: root)
    field = dom.element("textarea", "mg-input", in: box)
    counter = dom.element("span", "mg-counter", in: box)
    send = Composer.button(dom, "mg-composer-button mg-send", phrases.send, .send, in: root)
    dom.setAttribute(field, "rows", "1")
    dom.setAttribute(field, "dir", "auto")
    dom.setAttribute(field, "enterkeyhint", "send")
    dom.setAttribute(field, "autocomplete", "off")
    dom.setAttribute(counter, "role", "status")
    setEnabled(true)
    listen()
  }

  /// Puts a draft in. Raises no callback.
  public func setText(_ text: String) {
    self.text = text
    caret = text.utf8.count
    dom.setValue(field, text)
    update()
    dom.flush()
  }

  /// Exchanges these bytes of the text, as if it was typed; the caret stands behind them.
  public func replace(_ range: Range<Int>, with new: String) {
    let bytes = Array(text.utf8)
    guard range.upperBound <= bytes.count else { return }
    setText(String(decoding: bytes[..<range.lowerBound] + Array(new.utf8) + bytes[range.upperBound...], as: UTF8.self))
    caret = range.lowerBound + new.utf8.count
    dom.setLength(field, .caret, Double(caret))
    dom.flush()
    onDraft?(text)
    onTyping?(!text.utf8.isEmpty)
  }

  /// Not enabled: nothing can be written or sent (for example: no permission in the room).
  public func setEnabled(_ isEnabled: Bool, placeholder: String? = nil) {
    let placeholder = placeholder ?? phrases.composerPlaceholder
    guard isEnabled != self.isEnabled || !placeholder.hasSameBytes(as: self.placeholder) else { return }
    self.isEnabled = isEnabled
    self.placeholder = placeholder
    dom.setAttribute(field, "placeholder", placeholder)
    dom.setAttribute(field, "aria-label", placeholder)
    dom.setFlag(field, "disabled", !isEnabled)
    dom.setFlag(attach, "disabled", !isEnabled)
    update()
    dom.flush()
  }

  /// One more button, beside the one for files or beside the one that sends.
  @discardableResult
  public func addButton(_ icon: Icon, _ label: String, atEnd: Bool = false, _ pressed: @escaping () -> Void) -> Node {
    let button = Composer.button(dom, "mg-composer-button", label, icon, in: root)
    dom.insert(button, into: root, before: atEnd ? send : box)
    dom.on(button, .click) { _ in pressed() }
    return button
  }

  /// Takes the button for files away, for hosts that take none.
  public func hideAttach() {
    dom.setFlag(attach, "hidden", true)
    dom.flush()
  }

  /// Lets files be dropped on another element too, for example the whole room.
  public func acceptDrops(on node: Node) {
    dom.on(node, .files) { [self] in took($0.files) }
    dom.flush()
  }

  public func focus() {
    dom.focus(field)
    dom.flush()
  }

  /// Ends the composer: its elements and listeners are released. Until then the page keeps it alive.
  public func close() {
    dom.release(root)
    dom.flush()
  }

  // MARK: Events

  private func listen() {
    dom.on(field, .input) { [self] in typed($0.text, caret: Int($0.x)) }
    dom.on(field, .blur) { [self] in caret = min(Int($0.x), text.utf8.count) }
    dom.listen(field, .keyDown) { [self] in pressed($0) }
    dom.on(send, .click) { [self] _ in submit() }
    dom.on(attach, .click) { [self] _ in onAttach?() }
    dom.on(root, .files) { [self] in took($0.files) }
  }

  private func typed(_ text: String, caret: Int) {
    self.text = text
    self.caret = min(caret, text.utf8.count)
    update()
    dom.flush()
    onDraft?(text)
    onTyping?(!text.utf8.isEmpty)
  }

  private func pressed(_ event: PageEvent) -> EventReply {
    // A key that belongs to an input method must neither send nor be kept from it.
    if event.modifiers.contains(.composing) { return .pass }
    if onKey?(event) == .preventDefault { return .preventDefault }
    if case .enter = event.key, !event.modifiers.contains(.shift) {
      submit()
      return .preventDefault
    }
    return .pass
  }

  private func took(_ files: [PickedFile]) {
    if isEnabled, !files.isEmpty { onFiles?(files) }
  }

  /// Sends what is written.
  /// - Parameter command: put in front of it, for the host.
  public func submit(with command: String = "") {
    let trimmed = text.trimmed
    guard isEnabled, !trimmed.utf8.isEmpty, remaining >= 0, onSend?(command + trimmed) == true else { return }
    setText("")
    dom.focus(field)
    dom.flush()
    onDraft?("")
    onTyping?(false)
  }

  /// Unicode scalars that may still be written; negative when there are too many.
  public var remaining: Int { maximumLength - text.trimmed.unicodeScalars.count }

  private func update() {
    let remaining = remaining
    let isEmpty = text.trimmed.utf8.isEmpty
    dom.setFlag(send, "disabled", !isEnabled || isEmpty || remaining < 0)
    dom.setClass(send, isEmpty || remaining < 0 ? "mg-composer-button mg-send" : "mg-composer-button mg-send mg-ready")
    // Said in time, not all the time: in the last tenth.
    let isNear = remaining <= maximumLength / 10
    dom.setText(counter, isNear ? phrases.remainingLength(remaining) : "")
    dom.setClass(counter, remaining < 0 ? "mg-counter mg-over" : "mg-counter")
    dom.setLength(field, .fitContentUpTo, maximumHeight)
  }

  private static func button(_ dom: D, _ classes: String, _ label: String, _ icon: Icon, in parent: Node) -> Node {
    let button = dom.element("button", classes, in: parent)
    dom.setAttribute(button, "type", "button")
    dom.setAttribute(button, "aria-label", label)
    dom.setAttribute(button, "title", label)
    icon.draw(dom, in: button)
    return button
  }

}
