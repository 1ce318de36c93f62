import Messenger

/// The real page: commands are buffered and cross to JavaScript in one call per `flush`. No call returns a value, since
/// numbers are given out here.
public final class BatchDOM: DOM {
  private var commands = CommandBuffer()
  private var atoms = AtomTable()
  private var nodes = NodeTable()
  private var templateCount: Int32 = 0
  /// Callbacks by node, dropped with it.
  private var listeners: [Int32: [Int32]] = [:]

  public init() {}

  /// Elements that are not released; a figure for leak checks.
  public var liveNodeCount: Int { nodes.liveCount }

  public func atom(_ name: String) -> Atom {
    let (atom, isNew) = atoms.intern(name)
    if isNew { commands.atom(atom: atom.id, name: name) }
    return atom
  }

  public func create(_ tag: Atom) -> Node {
    let node = nodes.allocate()
    commands.create(node: node, tag: tag)
    return node
  }

  public func template(root: Node, slots: [Node]) -> Template {
    templateCount += 1
    let template = Template(id: templateCount, span: Int32(slots.count) + 1)
    commands.template(template: template.id, root: root, slots: slots.map { $0.id })
    release(root)
    return template
  }

  public func clone(_ template: Template) -> Node {
    let node = nodes.allocate(span: template.span)
    commands.clone(template: template.id, first: node)
    return node
  }

  public func append(_ child: Node, to parent: Node) {
    nodes.link(child, into: parent)
    commands.append(parent: parent, child: child)
  }

  public func insert(_ child: Node, into parent: Node, before sibling: Node) {
    nodes.link(child, into: parent, before: sibling)
    commands.insert(parent: parent, child: child, sibling: sibling)
  }

  public func remove(_ node: Node) {
    nodes.unlink(node)
    commands.remove(node: node)
  }

  public func release(_ node: Node) {
    commands.remove(node: node)
    nodes.release(node) { freed, span in forget(freed, span) }
  }

  public func releaseChildren(of node: Node) {
    for child in nodes.children(of: node) { release(child) }
  }

  private func forget(_ node: Node, _ span: Int32) {
    commands.free(first: node, count: span)
    for id in node.id..<(node.id + span) {
      guard let ids = listeners.removeValue(forKey: id) else { continue }
      for callback in ids { callbacks.remove(callback) }
    }
  }

  public func setClass(_ node: Node, _ classes: Atom) { commands.classes(node: node, list: classes) }

  public func setText(_ node: Node, _ text: String) { commands.text(node: node, text: text) }

  public func setAttribute(_ node: Node, _ name: Atom, _ value: String) {
    commands.attribute(node: node, name: name, value: value)
  }

  public func removeAttribute(_ node: Node, _ name: Atom) { commands.noAttribute(node: node, name: name) }

  public func setVariable(_ node: Node, _ name: Atom, _ value: Double) {
    commands.variable(node: node, name: name, millionths: BatchDOM.word(value * 1_000_000))
  }

  public func setStyle(_ node: Node, _ name: Atom, _ value: String) {
    commands.style(node: node, name: name, value: value)
  }

  /// 1/64 pixel is the layout unit of the engines: nothing is lost, and 32 bits reach as far as the engines do.
  public func setLength(_ node: Node, _ length: Length, _ pixels: Double) {
    let sixtyFourths = BatchDOM.word(pixels * 64)
    switch length {
    case .height: commands.height(node: node, sixtyFourths: sixtyFourths)
    case .width: commands.width(node: node, sixtyFourths: sixtyFourths)
    case .translateY: commands.translateY(node: node, sixtyFourths: sixtyFourths)
    case .scrollTop: commands.scrollTop(node: node, sixtyFourths: sixtyFourths)
    case .fitContentUpTo: commands.fitContent(node: node, sixtyFourths: sixtyFourths)
    case .caret: commands.caret(node: node, bytes: BatchDOM.word(pixels))
    }
  }

  public func setValue(_ node: Node, _ value: String) { commands.value(node: node, value: value) }

  public func setImage(_ node: Node, _ source: String?) { commands.image(node: node, source: source ?? "") }

  public func mark(_ words: String, in node: Node) { commands.mark(node: node, words: words) }

  public func focus(_ node: Node) { commands.focus(node: node) }

  public func parent(of node: Node) -> Node { nodes.parent(of: node) }

  public func listen(_ node: Node, _ kind: EventKind, _ handler: @escaping (PageEvent) -> EventReply) {
    let id = callbacks.add { handler(BatchDOM.pageEvent(kind, $0)) }
    listeners[node.id, default: []].append(id)
    commands.listen(node: node, event: kind.number, callback: id)
  }

  public func flush() {
    guard !commands.isEmpty else { return }
    // The host keeps events back while it applies a batch, so nothing is added here meanwhile.
    hostApply(commands.words, commands.text)
    commands.removeAll()
  }

  public func measure(_ measured: [Node]) -> [Float] {
    flush()
    guard !measured.isEmpty else { return [] }
    return [Float](unsafeUninitializedCapacity: measured.count) { out, count in
      out.initialize(repeating: 0)
      hostMeasure(measured.map { $0.id }, out)
      count = measured.count
    }
  }

  public func scrollTop(of node: Node) -> Double {
    flush()
    return hostScrollTop(node.id)
  }

  private static func word(_ value: Double) -> Int32 {
    guard value == value else { return 0 }
    if value >= Double(Int32.max) - 1 { return .max }
    if value <= Double(Int32.min) + 1 { return .min }
    return Int32(value < 0 ? value - 0.5 : value + 0.5)
  }

  private static func pageEvent(_ kind: EventKind, _ event: HostEvent) -> PageEvent {
    var page = PageEvent(node: Node(id: event.code), x: event.x, y: event.y)
    switch kind {
    case .files: page.files = Host.pickedFiles(event.bytes)
    case .keyDown:
      page.text = event.text
      page.modifiers = Modifiers(rawValue: Int32(event.x))
    case .click: if !event.bytes.isEmpty { page.modifiers = .shift }
    case .input, .change: page.text = event.text
    default: break
    }
    return page
  }
}
