import ClientCore
import Messenger
import PageWidgets
import WebHost

/// Says that the server cannot be reached, and when it is tried again. Nothing is shown while all is well.
final class ConnectionBanner<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let node: Node
  /// Read out by screen readers: the state, not each second of the countdown.
  private let text: Node
  private let countdown: Node
  private var shown = ""
  private var ticks = 0

  init(_ app: App<D>, in parent: Node) {
    self.app = app
    dom = app.dom
    node = dom.element("div", "ma-banner", in: parent)
    Drawing.cloudOff.draw(dom, in: node)
    text = dom.element("span", in: node)
    dom.setAttribute(text, "role", "status")
    countdown = dom.element("span", "ma-countdown", in: node)
    dom.setAttribute(countdown, "aria-hidden", "true")
    dom.setFlag(node, "hidden", true)
  }

  func update() {
    ticks += 1
    switch app.client.connection {
    case .idle, .firstSync, .running: dom.setFlag(node, "hidden", true)
    case .connecting: show(Strings[.connecting], "ma-banner ma-late")
    case .offline: show(Strings[.offline], "ma-banner ma-warning")
    case .reconnecting(let time): count(downTo: time, ticks)
    }
  }

  private func show(_ words: String, _ classes: String, rest: String = "") {
    if !words.hasSameBytes(as: shown) { dom.setText(text, words) }
    shown = words
    dom.setText(countdown, rest)
    dom.setClass(node, classes)
    dom.setFlag(node, "hidden", false)
  }

  private func count(downTo time: Int64, _ tick: Int) {
    guard tick == ticks else { return }
    let left = time - Host.wallClockMilliseconds()
    let seconds = Int(max(0, (left + 999) / 1_000))
    show(
      Strings[.noAnswer], "ma-banner ma-warning", rest: seconds > 0 ? Strings[.nextTry, "\(seconds)"] : Strings[.tryingAgain])
    dom.flush()
    guard left > 0 else { return }
    Host.after(milliseconds: 1_000) { [self] in count(downTo: time, tick) }
  }
}
