import Messenger
import WebHost

/// The edge between a call and its messages. Pointers drag it, arrow keys, Home and End move it, and a double click puts it back. The height of
/// the stage is kept on this device.
///
/// The style sheet bounds the height, by the room that there is: what is chosen here is what came of it.
final class StageEdge<D: DOM> {
  /// In pixels.
  static var setting: String { "call-height" }
  /// The style sheet has it, too (`min-height`).
  static var least: Double { 120 }
  static var step: Double { 24 }

  private let dom: D
  private let call: Node
  private let stage: Node
  private let node: Node
  /// nil: as the style sheet has it.
  private var chosen: Double?
  /// Of the stage, when the pointer took the edge.
  private var taken = 0.0

  init(_ dom: D, of stage: Node, in call: Node) {
    self.dom = dom
    self.call = call
    self.stage = stage
    node = dom.element("div", "rc-edge", in: call)
    for (name, value) in [
      ("role", "separator"), ("aria-orientation", "horizontal"), ("tabindex", "0"), ("aria-label", Word.callHeight.text),
      ("aria-valuemin", "0"), ("aria-valuemax", "100")
    ] {
      dom.setAttribute(node, name, value)
    }
    if let pixels = Host.setting(Self.setting).flatMap({ Int($0) }), (0...10_000).contains(pixels) { set(Double(pixels)) }
    dom.on(node, .resize) { [self] event in if event.y > 0 { tell() } }
    dom.on(node, .focus) { [self] _ in tell() }
    dom.on(node, .drag) { [self] in dragged($0) }
    dom.listen(node, .keyDown) { [self] in pressed($0) ? .preventDefault : .pass }
  }

  // MARK: Moving

  private func dragged(_ event: PageEvent) {
    switch event.x {
    case 0: taken = height
    case 1: set(taken + event.y)
    // A press alone chooses nothing.
    case 2: if event.y != 0 { choose(taken + event.y) }
    default: choose(nil)
    }
    dom.flush()
  }

  private func pressed(_ event: PageEvent) -> Bool {
    guard event.modifiers.isEmpty else { return false }
    switch Key(named: event.text) {
    case .arrowUp: choose(height - Self.step)
    case .arrowDown: choose(height + Self.step)
    case .home: choose(Self.least)
    case .end: choose(.infinity)
    default: return false
    }
    dom.flush()
    return true
  }

  private func choose(_ height: Double?) {
    set(height)
    if height != nil { set(self.height) }
    Host.setSetting(Self.setting, chosen.map { "\(Int($0))" })
    tell()
  }

  private func set(_ height: Double?) {
    chosen = height.map { min(max($0, Self.least), 10_000).rounded() }
    dom.setStyle(stage, "--rc-height", chosen.map { "\(Int($0))px" } ?? "")
    dom.setFlag(call, "data-sized", chosen != nil)
  }

  // MARK: Saying

  private var height: Double { Double(dom.measure([stage])[0]) }

  /// Says where the edge is, in percent of its way.
  private func tell() {
    let now = height
    let before = chosen
    set(.infinity)
    let most = height
    set(before)
    let percent = most > Self.least ? min(max((now - Self.least) / (most - Self.least), 0), 1) * 100 : 100
    dom.setAttribute(node, "aria-valuenow", "\(Int(percent.rounded()))")
    dom.flush()
  }
}
