/// The box a message is written in: grows with its text, Enter sends, Shift-Enter breaks the line, input methods are left alone.
public final class Composer<D: DOM> {
  public let dom: D
  public let root: Node
  public let phrases: Phrases
  /// Unicode scalars; a longer text cannot be sent and the counter says so.
  public var maximumLength = 1000
  /// Asked with the trimmed text before it is sent; false leaves the text in the box.
  public var onSend: ((String) -> Bool)?
  /// The text changed by typing: keep it as the draft.
  public var onDraft: ((String) -> Void)?
  /// The text became non-empty (true) or empty (false), or was sent (false); true is repeated with every change.
  public var onTyping: ((Bool) -> Void)?
  /// The attach button: open the file picker.
  public var onAttach: (() -> Void)?
  /// Files were pasted, or dropped on the composer or on a node given to `acceptDrops`.
  public var onFiles: (([PickedFile]) -> Void)?

  public init(dom: D, phrases: Phrases = Phrases()) {
    self.dom = dom
    self.phrases = phrases
    root = dom.element("div", "mg-composer")
  }

  public private(set) var text = ""
  /// Puts a draft in (no callback).
  public func setText(_ text: String) {}
  /// Not enabled: nothing can be written or sent (for example: no permission in the room).
  public func setEnabled(_ isEnabled: Bool, placeholder: String? = nil) {}
  public func acceptDrops(on node: Node) {}
  public func focus() {}
}
