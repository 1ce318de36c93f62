import Messenger

/// One element of the fake page.
public final class FakeElement {
  public fileprivate(set) var node: Node
  public let tag: String
  public fileprivate(set) var classes = ""
  public fileprivate(set) var text = ""
  public fileprivate(set) var value = ""
  public fileprivate(set) var image: String?
  public fileprivate(set) var marked: String?
  public fileprivate(set) var attributes: [String: String] = [:]
  public fileprivate(set) var variables: [String: Double] = [:]
  public fileprivate(set) var styles: [String: String] = [:]
  public fileprivate(set) var lengths: [Length: Double] = [:]
  public fileprivate(set) var children: [FakeElement] = []
  public fileprivate(set) weak var parent: FakeElement?

  init(_ node: Node, _ tag: String) {
    self.node = node
    self.tag = tag
  }

  public var isHidden: Bool { attributes["hidden"] != nil }
  public func has(_ name: String) -> Bool { classes.split(separator: " ").contains { $0 == name } }
  /// All text below, in order.
  public var allText: String { isHidden ? "" : text + children.map(\.allText).joined() }
  /// The same without what is hidden from assistive technology, such as the key of a menu item.
  public var saidText: String {
    isHidden || attributes["aria-hidden"] == "true" ? "" : text + children.map(\.saidText).joined()
  }

  public func first(_ name: String) -> FakeElement? {
    if has(name) { return self }
    for child in children {
      if let found = child.first(name) { return found }
    }
    return nil
  }

  public func all(_ name: String) -> [FakeElement] {
    (has(name) ? [self] : []) + children.flatMap { $0.all(name) }
  }

  /// The elements below with a tag, in order.
  public func tags(_ name: String) -> [FakeElement] {
    (tag == name ? [self] : []) + children.flatMap { $0.tags(name) }
  }
}

/// A page for tests with a small layout model: an element's height is a height set on it, else the lines of its text
/// (20 pixels each, 7.5 pixels a character, in `textWidth`) and the heights of its children one below the other.
public final class FakeDOM: DOM {
  private var atoms = AtomTable()
  private var nodes = NodeTable()
  private var elements: [Int32: FakeElement] = [:]
  private var templates: [(root: FakeElement, slots: [FakeElement?])] = []
  private var handlers: [Int32: [(kind: EventKind, handler: (PageEvent) -> EventReply)]] = [:]
  public var textWidth = 300.0
  /// Added to a row of this number on top of its text, as an image without known size would when it arrives.
  public var extraHeights: [Int32: Double] = [:]
  public private(set) var flushCount = 0
  public private(set) var measureCount = 0
  public private(set) var focused = Node.none
  private var newlyFocused = Node.none
  /// Texts that were set, to show that nothing else ever carries a message's text.
  public private(set) var commandCount = 0

  public init() { elements[1] = FakeElement(.root, "div") }

  public var liveNodeCount: Int { nodes.liveCount }
  public subscript(node: Node) -> FakeElement {
    guard let element = elements[node.id] else { fatalError("node \(node.id) was never made, or is released") }
    return element
  }
  public func exists(_ node: Node) -> Bool { elements[node.id] != nil }

  public func atom(_ name: String) -> Atom { atoms.intern(name).atom }

  public func create(_ tag: Atom) -> Node {
    let node = nodes.allocate()
    elements[node.id] = FakeElement(node, atoms.name(of: tag))
    return node
  }

  public func template(root: Node, slots: [Node]) -> Template {
    let model = self[root]
    templates.append((model, slots.map { $0 == .none ? nil : self[$0] }))
    let span = Int32(slots.count) + 1
    release(root)
    return Template(id: Int32(templates.count), span: span)
  }

  public func clone(_ template: Template) -> Node {
    let node = nodes.allocate(span: template.span)
    let (model, slots) = templates[Int(template.id) - 1]
    func copy(_ element: FakeElement) -> FakeElement {
      let copied = FakeElement(.none, element.tag)
      copied.classes = element.classes
      copied.text = element.text
      copied.attributes = element.attributes
      for child in element.children {
        let below = copy(child)
        below.parent = copied
        copied.children.append(below)
      }
      if let slot = slots.firstIndex(where: { $0 === element }) {
        copied.node = node.slot(Int32(slot) + 1)
        elements[copied.node.id] = copied
      }
      return copied
    }
    let copied = copy(model)
    copied.node = node
    elements[node.id] = copied
    return node
  }

  public func append(_ child: Node, to parent: Node) { insert(child, into: parent, before: .none) }

  public func insert(_ child: Node, into parent: Node, before sibling: Node) {
    nodes.link(child, into: parent, before: sibling)
    let (element, container) = (self[child], self[parent])
    detach(element)
    let index = sibling == .none ? container.children.count : container.children.firstIndex { $0.node == sibling }
    guard let index else { fatalError("node \(sibling.id) is not in node \(parent.id)") }
    container.children.insert(element, at: index)
    element.parent = container
  }

  public func remove(_ node: Node) {
    nodes.unlink(node)
    detach(self[node])
  }

  public func release(_ node: Node) {
    detach(self[node])
    nodes.release(node) { freed, span in
      for id in freed.id..<freed.id + span {
        elements[id] = nil
        handlers[id] = nil
      }
    }
  }

  public func releaseChildren(of node: Node) {
    for child in nodes.children(of: node) { release(child) }
  }

  private func detach(_ element: FakeElement) {
    element.parent?.children.removeAll { $0 === element }
    element.parent = nil
  }

  public func setClass(_ node: Node, _ classes: Atom) { self[node].classes = atoms.name(of: classes) }
  public func setText(_ node: Node, _ text: String) {
    commandCount += 1
    self[node].text = text
    self[node].children = []
  }
  public func setAttribute(_ node: Node, _ name: Atom, _ value: String) {
    self[node].attributes[atoms.name(of: name)] = value
  }
  public func removeAttribute(_ node: Node, _ name: Atom) { self[node].attributes[atoms.name(of: name)] = nil }
  public func setVariable(_ node: Node, _ name: Atom, _ value: Double) {
    self[node].variables[atoms.name(of: name)] = value
  }
  public func setStyle(_ node: Node, _ name: Atom, _ value: String) {
    self[node].styles[atoms.name(of: name)] = value.isEmpty ? nil : value
  }
  public func setLength(_ node: Node, _ length: Length, _ pixels: Double) { self[node].lengths[length] = pixels }
  public func setValue(_ node: Node, _ value: String) { self[node].value = value }
  public func setImage(_ node: Node, _ source: String?) { self[node].image = source }
  public func mark(_ words: String, in node: Node) { self[node].marked = words }
  /// The event for it comes when the program has ended what it does, as in a page.
  public func focus(_ node: Node) {
    focused = node
    newlyFocused = node
  }

  public func parent(of node: Node) -> Node { nodes.parent(of: node) }

  public func listen(_ node: Node, _ kind: EventKind, _ handler: @escaping (PageEvent) -> EventReply) {
    handlers[node.id, default: []].append((kind, handler))
  }

  public func flush() { flushCount += 1 }

  public func measure(_ measured: [Node]) -> [Float] {
    measureCount += 1
    return measured.map { Float(height(of: self[$0])) }
  }

  public func scrollTop(of node: Node) -> Double { self[node].lengths[.scrollTop] ?? 0 }

  public func height(of element: FakeElement) -> Double {
    if element.isHidden { return 0 }
    if let fixed = element.lengths[.height], fixed >= 0 { return fixed }
    var height = extraHeights[element.node.id] ?? 0
    if !element.text.isEmpty { height += 20 * (Double(element.text.utf8.count) * 7.5 / textWidth).rounded(.up) }
    for child in element.children { height += self.height(of: child) }
    return height
  }

  // MARK: What a person does

  /// Raises an event as the page would: on the node and on everything around it.
  @discardableResult
  public func fire(
    _ kind: EventKind, on node: Node, x: Double = 0, y: Double = 0, text: String = "", modifiers: Modifiers = [],
    files: [PickedFile] = []
  ) -> EventReply {
    let event = PageEvent(node: node, x: x, y: y, text: text, modifiers: modifiers, files: files)
    if kind == .scroll { self[node].lengths[.scrollTop] = x }
    var reply = EventReply.pass
    var at: FakeElement? = elements[node.id]
    while let element = at {
      let parent = element.parent
      for listener in handlers[element.node.id] ?? [] where listener.kind == kind {
        if listener.handler(event) == .preventDefault { reply = .preventDefault }
      }
      if kind == .scroll || kind == .resize { break }
      at = parent
    }
    if newlyFocused != .none, elements[newlyFocused.id] != nil {
      let node = newlyFocused
      newlyFocused = .none
      fire(.focus, on: node)
    }
    return reply
  }
}
