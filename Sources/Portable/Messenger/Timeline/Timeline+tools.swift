/// A few buttons that come to the message where a pointer or the keyboard is. There is one such bar: rows have none of their own.
struct RowTools {
  let node: Node
  var buttons: [(node: Node, action: ActionSet)] = []
  /// The row it stands in.
  var row: Node = .none

  static let offered: ActionSet = [.addReaction, .reply, .menu]
}

extension Timeline {
  func makeTools() -> RowTools? {
    let offered = options.actions.intersection(RowTools.offered)
    guard !offered.isEmpty else { return nil }
    var tools = RowTools(node: dom.element("div", "mg-tools"))
    dom.setAttribute(tools.node, "role", "toolbar")
    dom.setAttribute(tools.node, "aria-label", options.phrases.moreActions)
    let known: [(ActionSet, Icon, String)] = [
      (.addReaction, .smile, options.phrases.addReaction), (.reply, .reply, options.phrases.reply),
      (.menu, .more, options.phrases.moreActions)
    ]
    for (action, icon, label) in known where offered.contains(action) {
      let button = dom.element("button", "mg-tool", in: tools.node)
      dom.setAttribute(button, "type", "button")
      dom.setAttribute(button, "aria-label", label)
      dom.setAttribute(button, "title", label)
      icon.draw(dom, in: button)
      tools.buttons.append((button, action))
    }
    return tools
  }

  /// Puts the bar into the row of this element, if it is a message.
  func showTools(at element: Node) {
    guard options.actions.contains(.menu) || options.actions.contains(.reply) || options.actions.contains(.addReaction) else {
      return
    }
    guard let view = view(of: element), view.kind == .message else { return }
    if tools == nil { tools = makeTools() }
    guard let tools, tools.row != view.node else { return }
    dom.append(tools.node, to: view.node)
    self.tools?.row = view.node
    dom.flush()
  }

  /// The row leaves the page or becomes another.
  func leaveTools(_ view: RowView) {
    guard let tools, tools.row == view.node else { return }
    dom.remove(tools.node)
    self.tools?.row = .none
  }

  /// Whether that was one of the buttons.
  func clickedTool(_ element: Node, of view: RowView, _ event: PageEvent) -> Bool {
    guard let tools, tools.row == view.node else { return false }
    for (node, action) in tools.buttons where node == element {
      switch action {
      case .addReaction: act(.addReaction(view.id, x: event.x, y: event.y))
      case .reply: act(.reply(view.id))
      default: act(.menu(view.id, x: event.x, y: event.y))
      }
      return true
    }
    return false
  }
}
