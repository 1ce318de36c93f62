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
  var hasAvatar = false
  var hasRole = false
  /// What ears were told: counted from 1, of how many.
  var position = 0
  var setSize = 0
  /// A line that can be opened.
  var folds = false
  var textLook = TextLook.plain
  /// In the bubble, from top to bottom. The first of them stand before the body's own.
  var parts: [PartView] = []
  var partsBeforeBody = 0
  var below: PartView?
  /// How it came in.
  var entering: Decor = []

  init(node: Node, kind: RowKind) {
    self.node = node
    self.kind = kind
  }

  func slot(_ slot: Slot) -> Node { node.slot(slot.rawValue) }

  /// What an element of the row does; `part` counts the body's parts, nil outside the body.
  func target(of element: Node) -> (target: Target, part: Int?)? {
    for (index, part) in parts.enumerated() {
      for (node, target) in part.targets where node == element { return (target, index - partsBeforeBody) }
    }
    for (node, target) in below?.targets ?? [] where node == element { return (target, nil) }
    for link in links where link.node == element { return (.link(link.url), nil) }
    return nil
  }

  /// Elements with a target, in order.
  var controls: [Node] {
    var controls: [Node] = []
    for part in parts { for (node, _) in part.targets { controls.append(node) } }
    for link in links { controls.append(link.node) }
    for (node, _) in below?.targets ?? [] { controls.append(node) }
    return controls
  }
}
