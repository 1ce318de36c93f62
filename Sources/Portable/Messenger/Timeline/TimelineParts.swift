/// The fixed elements around the rows.
final class TimelineParts<D: DOM> {
  let dom: D
  let root: Node
  let scroller: Node
  let content: Node
  let head: Node
  let window: Node
  let foot: Node
  private let tail: Node
  private let typing: Node
  /// Rows that are gone and still fade.
  let ghosts: Node
  /// Who writes, and who does not any more but is still seen to go.
  private var typists: [(id: String, row: Node)] = []
  private var goneTypists: [Node] = []
  let jump: Node
  private let badge: Node
  /// The day that goes by.
  private let passing: Node
  private var passingDay = ""
  /// Spoken by screen readers when it changes.
  private let announcer: Node
  private(set) var headRetry = Node.none
  private(set) var tailRetry = Node.none
  var drawLoading: ((Node) -> Void)?

  /// What the page was told last: nothing is told twice.
  private var lengths: [Double] = [-1, -1, -1, -1]
  private var jumpIsShown = false
  private var badgeCount = 0
  /// Head or foot changed and must be measured.
  var isUnmeasured = true

  init(_ dom: D, _ phrases: Phrases) {
    self.dom = dom
    root = dom.element("section", "mg-timeline")
    scroller = dom.element("div", "mg-scroller", in: root)
    dom.setAttribute(scroller, "tabindex", "0")
    dom.setAttribute(scroller, "role", "feed")
    dom.setAttribute(scroller, "aria-label", phrases.timeline)
    content = dom.element("div", "mg-content", in: scroller)
    head = dom.element("div", "mg-head", in: content)
    window = dom.element("div", "mg-window", in: content)
    foot = dom.element("div", "mg-foot", in: content)
    tail = dom.element("div", "mg-tail", in: foot)
    typing = dom.element("div", "mg-typing-rows", in: foot)
    ghosts = dom.element("div", "mg-ghosts", in: content)
    dom.setAttribute(ghosts, "aria-hidden", "true")
    passing = dom.element("div", "mg-passing-day", in: root)
    dom.setAttribute(passing, "aria-hidden", "true")
    jump = dom.element("button", "mg-jump", in: root)
    dom.setAttribute(jump, "type", "button")
    dom.setAttribute(jump, "aria-label", phrases.jumpToEnd)
    badge = dom.element("span", "mg-jump-badge", in: jump)
    Icon.arrowDown.draw(dom, in: jump)
    dom.setFlag(jump, "hidden", true)
    announcer = dom.element("div", "mg-announcer", in: root)
    dom.setAttribute(announcer, "aria-live", "polite")
  }

  func showHead(_ state: HeadState, _ phrases: Phrases) {
    isUnmeasured = true
    dom.releaseChildren(of: head)
    headRetry = .none
    dom.setAttribute(scroller, "aria-busy", state == .more(.loading) ? "true" : "false")
    switch state {
    case .hidden: dom.setClass(head, "mg-head")
    case .start:
      dom.setClass(head, "mg-head mg-head-start")
      dom.element("div", "mg-head-text", text: phrases.startOfHistory, in: head)
    case .more(let fetch):
      dom.setClass(head, "mg-head mg-head-more")
      headRetry = showFetch(fetch, in: head, phrases)
    }
  }

  func showTail(_ state: TailState, _ phrases: Phrases) {
    isUnmeasured = true
    dom.releaseChildren(of: tail)
    tailRetry = .none
    switch state {
    case .live: dom.setClass(tail, "mg-tail")
    case .end:
      dom.setClass(tail, "mg-tail mg-head-start")
      dom.element("div", "mg-head-text", text: phrases.endOfHistory, in: tail)
    case .more(let fetch):
      dom.setClass(tail, "mg-tail mg-head-more")
      tailRetry = showFetch(fetch, in: tail, phrases)
    }
  }

  /// The same height in all states: asking for more moves nothing. Returns the button that tries again.
  private func showFetch(_ fetch: FetchState, in parent: Node, _ phrases: Phrases) -> Node {
    switch fetch {
    case .idle: return .none
    case .loading:
      if let drawLoading {
        drawLoading(parent)
      } else {
        dom.element("span", "mg-spinner", in: parent)
        dom.element("span", "mg-head-text", text: phrases.loading, in: parent)
      }
      return .none
    case .failed:
      dom.element("span", "mg-head-text", text: phrases.loadingFailed, in: parent)
      return fetchButton(phrases.retry, in: parent)
    case .onDemand: return fetchButton(phrases.loadMore, in: parent)
    }
  }

  private func fetchButton(_ text: String, in parent: Node) -> Node {
    let button = dom.element("button", "mg-button", text: text, in: parent)
    dom.setAttribute(button, "type", "button")
    return button
  }

  /// Only who begins comes in moving: the rows of the others stay as they are.
  /// - Returns: whether rows are seen to go, which `fades` allows.
  func showTyping(_ members: [TypingMember], _ phrases: Phrases, fades: Bool) -> Bool {
    isUnmeasured = true
    var new = members
    let old = typists
    typists = []
    for (place, typist) in old.enumerated() {
      if let index = new.firstIndex(where: { $0.sender.id.hasSameBytes(as: typist.id) }) {
        new.remove(at: index)
        typists.append(typist)
      } else if fades {
        dom.remove(typist.row)
        dom.setVariable(typist.row, "--mg-place", Double(old.count - 1 - place))
        dom.append(typist.row, to: ghosts)
        goneTypists.append(typist.row)
      } else {
        dom.release(typist.row)
      }
    }
    for member in new {
      let row = dom.element("div", "mg-typing", in: typing)
      dom.avatar(of: member.sender, "mg-avatar", in: row)
      let bubble = dom.element("span", "mg-typing-bubble", in: row)
      for _ in 0..<3 { dom.element("i", "mg-typing-dot", in: bubble) }
      dom.element("span", "mg-typing-text", text: phrases.typing(member.sender.name), in: row)
      typists.append((member.sender.id, row))
    }
    return !goneTypists.isEmpty
  }

  func dropTypists() {
    for row in goneTypists { dom.release(row) }
    goneTypists = []
  }

  func place(_ geometry: Geometry, first: Int) {
    set(0, content, .height, geometry.pageHeight)
    set(1, head, .translateY, geometry.headTop - geometry.pageStart)
    set(2, window, .translateY, geometry.y(of: first) - geometry.pageStart)
    set(3, foot, .translateY, geometry.footTop - geometry.pageStart)
  }

  private func set(_ which: Int, _ node: Node, _ length: Length, _ value: Double) {
    guard lengths[which] != value else { return }
    lengths[which] = value
    dom.setLength(node, length, value)
  }

  func showJump(_ isShown: Bool, count: Int, _ phrases: Phrases) {
    if isShown != jumpIsShown {
      jumpIsShown = isShown
      dom.setFlag(jump, "hidden", !isShown)
    }
    if count != badgeCount {
      badgeCount = count
      dom.setText(badge, count > 0 ? phrases.newMessages(count) : "")
      dom.setClass(jump, count > 0 ? "mg-jump mg-jump-new" : "mg-jump")
    }
  }

  /// The day that goes by, and what stands for its rows; nothing where rows are drawn.
  func showPassing(_ day: String) {
    if !day.hasSameBytes(as: passingDay) {
      dom.setClass(scroller, day.utf8.isEmpty ? "mg-scroller" : "mg-scroller mg-passing")
      dom.setText(passing, day)
      passingDay = day
    }
    dom.flush()
  }

  func announce(_ text: String) { dom.setText(announcer, text) }
}
