/// A row in the page: a clone of a template and what it shows at present.
final class RowView {
  /// What the row was last filled from; when it differs the row is filled again.
  struct Signature: Equatable {
    var decor: Decor
    var version: UInt32
    /// Grows when the width changes.
    var layout: UInt32
  }

  let node: Node
  let kind: RowKind
  var id = RowID(0)
  /// As of the last reconciliation.
  var index = 0
  var signature: Signature?
  /// Slots that have text.
  var filled: UInt32 = 0
  var links: [(node: Node, url: String)] = []
  var hasImages = false
  var hasProgress = false
  /// The content's version, to tell whether only the decoration changed.
  var isEntering = false

  init(node: Node, kind: RowKind) {
    self.node = node
    self.kind = kind
  }

  func slot(_ slot: Slot) -> Node { node.slot(slot.rawValue) }

  /// Whether the element is the row, one of its slots or one of its links.
  func owns(_ element: Node) -> Bool {
    if element.id >= node.id && element.id <= node.id + Slot.last { return true }
    for link in links where link.node == element { return true }
    return false
  }
}
