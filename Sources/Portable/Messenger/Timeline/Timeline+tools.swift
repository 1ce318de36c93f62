/// A few buttons that come to the bubble where a pointer or the keyboard is. There is one such bar: rows have none of their own.
struct RowTools {
  let node: Node
  /// Reactions of one touch; where there is no room for them, `addReaction` is enough.
  var reactions: [(node: Node, key: String)] = []
  var buttons: [(node: Node, action: ActionSet)] = []
  /// The row it stands in.
  var row: Node = .none

  /// Up to this many pixels a list has no room for the reactions.
  static let narrowWidth = 760.0
  static let offered: ActionSet = [.addReaction, .reply, .menu]
}

extension Timeline {
  func makeTools() -> RowTools? {
    let offered = options.actions.intersection(RowTools.offered)
    guard !offered.isEmpty else { return nil }
    var tools = RowTools(node: dom.element("div", "mg-tools"))
    let bar = dom.element("div", "mg-tools-bar", in: tools.node)
    dom.setAttribute(bar, "role", "toolbar")
    dom.setAttribute(bar, "aria-label", options.phrases.moreActions)
    if offered.contains(.addReaction) {
      for key in options.quickReactions() {
        let button = dom.element("button", "mg-tool mg-tool-sign", text: key, in: bar)
        dom.setAttribute(button, "type", "button")
        dom.setAttribute(button, "aria-label", options.phrases.reactWith(key))
        tools.reactions.append((button, key))
      }
    }
    let known: [(ActionSet, Icon, String)] = [
      (.addReaction, .smile, options.phrases.addReaction), (.reply, .reply, options.phrases.reply),
      (.menu, .more, options.phrases.moreActions)
    ]
    for (action, icon, label) in known where offered.contains(action) {
      let button = dom.element("button", "mg-tool", in: bar)
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
    guard selection == nil,
      options.actions.contains(.menu) || options.actions.contains(.reply) || options.actions.contains(.addReaction)
    else {
      return
    }
    guard let view = view(of: element), view.kind == .message else { return }
    if tools == nil { tools = makeTools() }
    guard let tools, tools.row != view.node else { return }
    dom.append(tools.node, to: view.slot(.pair))
    self.tools?.row = view.node
    dom.flush()
  }

  /// Makes the bar anew when it is next shown: other reactions are quick now.
  public func renewTools() {
    if let tools { dom.release(tools.node) }
    tools = nil
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
    for (node, key) in tools.reactions where node == element {
      act(.react(view.id, key: key))
      return true
    }
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
