/// What the program listens to.
public enum EventKind: Sendable {
  /// With Shift, `modifiers` has it.
  case click
  /// The text of a field changed; `text` is its value, `x` how many bytes of it stand before the caret.
  case input
  case keyDown
  /// `x` is the scroll position, `y` the viewport's height.
  case scroll
  /// The element's own size changed (also once at first); `x` is its width, `y` its height. Comes before the frame is painted.
  case resize
  /// Files were pasted or dropped on the element.
  case files
  case focus
  case blur
  /// A field was left with a new value; `text` is its value.
  case change
  /// A form was submitted; the browser's own doing is always prevented.
  case submit
  case contextMenu
  /// A pointer came to the element, or to one below it.
  case pointerOver
  /// A message was swiped to be answered. `Web/gestures.js`
  case swipe
  /// A finger holds the element (`x` 0), lets go (1), has slid away (2), has slid up and need not hold any more (3).
  case hold
  /// A line of a list was drawn aside, to the side that does what is done most. `Web/gestures.js`
  case aside
  /// A child of the list (`node`) was let go at another place, `x` counted among its other movable ones. `Web/gestures.js`
  case reorder
  /// A pointer takes an edge (`x` 0), drags it (1), lets go (2), or pressed it twice (3). `y` is how far it is below the place where it took it,
  /// in pixels. `Web/gestures.js`
  case drag
}

/// What becomes of the browser's own reaction to an event.
public enum EventReply: Int32, Sendable {
  case pass = 0
  case preventDefault = 1
}

/// Held keys and key state of an event.
public struct Modifiers: OptionSet, Sendable {
  public let rawValue: Int32
  public init(rawValue: Int32) { self.rawValue = rawValue }
  public static let shift = Modifiers(rawValue: 1)
  public static let control = Modifiers(rawValue: 2)
  public static let alt = Modifiers(rawValue: 4)
  public static let meta = Modifiers(rawValue: 8)
  /// An input method is composing: the key belongs to it (`isComposing`, or key code 229).
  public static let composing = Modifiers(rawValue: 16)
}

/// The keys the program tells apart.
public enum Key: Sendable {
  case other, enter, escape, tab, backspace, arrowUp, arrowDown, arrowLeft, arrowRight, pageUp, pageDown, home, end

  /// By the standard's name. Spec: UI Events KeyboardEvent key Values.
  public init(named name: String) {
    var key = Key.other
    for (known, value) in Key.names where known.hasSameBytes(as: name) { key = value }
    self = key
  }

  private static let names: [(String, Key)] = [
    ("Enter", .enter), ("Escape", .escape), ("Tab", .tab), ("Backspace", .backspace), ("ArrowUp", .arrowUp),
    ("ArrowDown", .arrowDown), ("ArrowLeft", .arrowLeft), ("ArrowRight", .arrowRight), ("PageUp", .pageUp),
    ("PageDown", .pageDown), ("Home", .home), ("End", .end)
  ]
}

/// An event of the page.
public struct PageEvent {
  /// The innermost element with a number where it happened.
  public var node: Node
  public var x: Double
  public var y: Double
  /// The value of a field, or the name of a key.
  public var text: String
  public var modifiers: Modifiers
  public var files: [PickedFile]

  public init(
    node: Node, x: Double = 0, y: Double = 0, text: String = "", modifiers: Modifiers = [], files: [PickedFile] = []
  ) {
    self.node = node
    self.x = x
    self.y = y
    self.text = text
    self.modifiers = modifiers
    self.files = files
  }

  /// The key of a `keyDown`.
  public var key: Key { Key(named: text) }
}
