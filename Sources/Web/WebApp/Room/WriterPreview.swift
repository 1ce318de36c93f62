import ClientCore
import JSON
import Messenger
import WebHost

/// Where the first address leads that one writes, as the message will show it. The server is asked once nobody has typed for a moment, so that
/// it does not look for half an address.
final class WriterPreview<D: DOM> {
  private static var pauseMilliseconds: Double { 700 }

  private let app: App<D>
  private let dom: D
  private let box: Node
  private let title: Node
  private var shown = ""
  /// Counts addresses: an answer to an older one is none.
  private var version = 0

  init(_ app: App<D>, in parent: Node) {
    self.app = app
    dom = app.dom
    box = dom.element("div", "ma-writer-banner", in: parent)
    dom.setAttribute(box, "role", "status")
    Drawing.link.draw(dom, in: box)
    title = dom.element("span", "ma-writer-text", in: box)
    dom.setFlag(box, "hidden", true)
  }

  func update(_ text: String, in room: Room?) {
    let isWanted = app.showsPreviews && room?.isEncrypted == false
    let url = isWanted ? MessageContent(kind: .text, body: ByteString(text)).link ?? "" : ""
    guard !url.hasSameBytes(as: shown) else { return }
    shown = url
    version += 1
    dom.setFlag(box, "hidden", true)
    guard !url.utf8.isEmpty else { return dom.flush() }
    let asked = version
    Host.after(milliseconds: Self.pauseMilliseconds) { [self] in
      guard asked == version else { return }
      app.ask(.preview(of: ByteString(url))) { [self] result in
        guard asked == version, case .success(let page) = result, let words = page.title?.string, !words.utf8.isEmpty else {
          return
        }
        dom.setText(title, page.siteName.map { $0.string + " · " + words } ?? words)
        dom.setFlag(box, "hidden", false)
        dom.flush()
      }
    }
    dom.flush()
  }
}
