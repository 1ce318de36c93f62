/// The numbers of elements and their parents, so that a whole subtree can be released by its root.
/// For implementations of `DOM`. Numbers 0 (none) and 1 (the page's root element) are taken.
public struct NodeTable {
  private struct Links {
    var parent: Int32 = 0
    var firstChild: Int32 = 0
    var lastChild: Int32 = 0
    var previous: Int32 = 0
    var next: Int32 = 0
    /// How many numbers belong to the node: 1, or a template's span. 0 for a slot of a clone and for a free number.
    var span: Int32 = 0
  }

  private var links = [Links(), Links(span: 1)]
  /// Free numbers by span.
  private var free: [[Int32]] = []
  public private(set) var liveCount = 1

  public init() {}

  public mutating func allocate(span: Int32 = 1) -> Node {
    liveCount += 1
    if free.indices.contains(Int(span)), let id = free[Int(span)].popLast() {
      links[Int(id)].span = span
      for slot in 1..<max(span, 1) { links[Int(id + slot)].parent = id }
      return Node(id: id)
    }
    let id = Int32(links.count)
    links.append(Links(span: span))
    for _ in 1..<max(span, 1) { links.append(Links(parent: id)) }
    return Node(id: id)
  }

  public mutating func link(_ child: Node, into parent: Node, before sibling: Node = .none) {
    unlink(child)
    let (c, p, s) = (Int(child.id), Int(parent.id), Int(sibling.id))
    let previous = s == 0 ? links[p].lastChild : links[s].previous
    links[c].parent = parent.id
    links[c].previous = previous
    links[c].next = sibling.id
    if previous == 0 { links[p].firstChild = child.id } else { links[Int(previous)].next = child.id }
    if s == 0 { links[p].lastChild = child.id } else { links[s].previous = child.id }
  }

  public mutating func unlink(_ child: Node) {
    let old = links[Int(child.id)]
    guard old.parent != 0, old.span > 0 else { return }
    if old.previous == 0 {
      links[Int(old.parent)].firstChild = old.next
    } else {
      links[Int(old.previous)].next = old.next
    }
    if old.next == 0 {
      links[Int(old.parent)].lastChild = old.previous
    } else {
      links[Int(old.next)].previous = old.previous
    }
    links[Int(child.id)].parent = 0
    links[Int(child.id)].previous = 0
    links[Int(child.id)].next = 0
  }

  public func children(of node: Node) -> [Node] {
    var found: [Node] = []
    var child = links[Int(node.id)].firstChild
    while child != 0 {
      found.append(Node(id: child))
      child = links[Int(child)].next
    }
    return found
  }

  /// What the node was put into; of a slot, the clone. None at the top, and for numbers that are free.
  public func parent(of node: Node) -> Node {
    links.indices.contains(Int(node.id)) ? Node(id: links[Int(node.id)].parent) : .none
  }

  /// The numbers of a node: itself and, for a clone, its slots.
  public func span(of node: Node) -> Int32 { links[Int(node.id)].span }

  /// Frees the node and everything below it (what hangs in the slots of a clone included); `visit` gets each freed root
  /// of numbers with its span.
  public mutating func release(_ node: Node, _ visit: (Node, Int32) -> Void) {
    let span = links[Int(node.id)].span
    guard node.id > 1, span > 0 else { return }
    unlink(node)
    for offset in 0..<span {
      for child in children(of: node.slot(offset)) { release(child, visit) }
      links[Int(node.id + offset)] = Links()
    }
    liveCount -= 1
    while free.count <= Int(span) { free.append([]) }
    free[Int(span)].append(node.id)
    visit(node, span)
  }
}
