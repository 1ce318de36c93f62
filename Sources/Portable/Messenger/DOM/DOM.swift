/// One element of the page, by the number the Swift side gave it.
public struct Node: Equatable, Hashable, Sendable {
  public let id: Int32
  public init(id: Int32) { self.id = id }
  /// No element.
  public static let none = Node(id: 0)
  /// The element of the page that holds the whole program.
  public static let root = Node(id: 1)
  /// Slot `index` (1...) of a node that was cloned from a template.
  public func slot(_ index: Int32) -> Node { Node(id: id + index) }
}

/// An interned name: a tag, a class list, an attribute name. Interned once by `DOM.atom`, then as cheap as a number.
public struct Atom: Equatable, Sendable {
  public let id: Int32
  public init(id: Int32) { self.id = id }
}

/// A subtree to be cloned, with numbered slots. Made by `DOM.template`.
public struct Template: Equatable, Sendable {
  public let id: Int32
  /// How many numbers a clone takes: the root and its slots.
  public let span: Int32
  public init(id: Int32, span: Int32) {
    self.id = id
    self.span = span
  }
}

/// A length in CSS pixels that a program sets directly.
public enum Length: Sendable {
  /// A negative height takes the style away.
  case height
  case translateY
  case scrollTop
  /// A negative width takes the style away.
  case width
  /// Sets a text field's height to its content, at most the given value.
  case fitContentUpTo
  /// Puts the caret of a text field behind that many bytes of its text.
  case caret
}

/// The page, as the messenger and the screens see it: commands that are buffered and applied together by `flush`.
///
/// A class-bound generic parameter (never an existential), so calls are direct. `BatchDOM` of `WebHost` is a
/// browser's page, `FakeDOM` of the tests one without a browser. Text reaches the page only as text, never as markup.
public protocol DOM: AnyObject {
  /// Interns a name; the same name gives the same atom.
  func atom(_ name: String) -> Atom

  /// Makes an element that is not yet in the page. A tag that begins with `svg:` makes an SVG element.
  func create(_ tag: Atom) -> Node
  /// Makes a template of a subtree that was built with `create`; the subtree itself is consumed. Slot `k` of a clone is
  /// `clone.slot(k)` for `slots[k - 1]`.
  func template(root: Node, slots: [Node]) -> Template
  func clone(_ template: Template) -> Node

  func append(_ child: Node, to parent: Node)
  func insert(_ child: Node, into parent: Node, before sibling: Node)
  /// Takes the node out of the page; it can be put back.
  func remove(_ node: Node)
  /// Takes the node out of the page and forgets it, everything below it and all their listeners. The numbers are reused.
  func release(_ node: Node)
  /// Releases everything below the node.
  func releaseChildren(of node: Node)

  func setClass(_ node: Node, _ classes: Atom)
  func setText(_ node: Node, _ text: String)
  func setAttribute(_ node: Node, _ name: Atom, _ value: String)
  func removeAttribute(_ node: Node, _ name: Atom)
  /// Sets a CSS custom property (`--name`) to a number.
  func setVariable(_ node: Node, _ name: Atom, _ value: Double)
  /// Sets a CSS property, custom or not, to a text of the program's own; an empty one takes it away.
  func setStyle(_ node: Node, _ name: Atom, _ value: String)
  func setLength(_ node: Node, _ length: Length, _ pixels: Double)
  /// Sets the value of a form field.
  func setValue(_ node: Node, _ value: String)
  /// Shows an image; nil shows none. How it is fetched, and with what right, the page knows. The element's `data-state` is `loading`, `loaded` or `failed`.
  func setImage(_ node: Node, _ source: String?)
  /// Marks the words in the node's text, each where a word begins with it, whatever its case and diacritics; a long text begins shortly before
  /// the first of them.
  func mark(_ words: String, in node: Node)
  func focus(_ node: Node)

  /// What the node was put into; of a slot, its clone.
  func parent(of node: Node) -> Node

  /// Calls `handler` for each event of the kind on the node or below it, until the node is released.
  func listen(_ node: Node, _ kind: EventKind, _ handler: @escaping (PageEvent) -> EventReply)

  /// Applies everything buffered.
  func flush()
  /// Flushes, then reads the border-box heights in pixels (one forced layout).
  func measure(_ nodes: [Node]) -> [Float]
  /// Where the node is scrolled to now, in pixels: a person may have moved it since the last `scroll` event.
  func scrollTop(of node: Node) -> Double
}

extension DOM {
  /// Makes an element with classes and text, and appends it to `parent`.
  @discardableResult
  public func element(
    _ tag: String, _ classes: String = "", text: String = "", in parent: Node = .none
  ) -> Node {
    let node = create(atom(tag))
    if !classes.utf8.isEmpty { setClass(node, atom(classes)) }
    if !text.utf8.isEmpty { setText(node, text) }
    if parent != .none { append(node, to: parent) }
    return node
  }

  public func setClass(_ node: Node, _ classes: String) { setClass(node, atom(classes)) }

  public func setAttribute(_ node: Node, _ name: String, _ value: String) { setAttribute(node, atom(name), value) }

  /// Sets or takes away an attribute without a value, such as `hidden` or `disabled`.
  public func setFlag(_ node: Node, _ name: String, _ isOn: Bool) {
    if isOn { setAttribute(node, atom(name), "") } else { removeAttribute(node, atom(name)) }
  }

  public func setVariable(_ node: Node, _ name: String, _ value: Double) { setVariable(node, atom(name), value) }

  public func setStyle(_ node: Node, _ name: String, _ value: String) { setStyle(node, atom(name), value) }

  /// `listen` for a handler that never keeps the browser from its own doing.
  public func on(_ node: Node, _ kind: EventKind, _ handler: @escaping (PageEvent) -> Void) {
    listen(node, kind) { event in
      handler(event)
      return .pass
    }
  }
}
