import ClientCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// Where the first address leads that one writes, as the message will show it. The server is asked once nobody has typed for a moment, so that
/// it does not look for half an address; never for one that nobody has written here, which may never be sent.
final class WriterPreview<D: DOM> {
  private static var pauseMilliseconds: Double { 700 }

  private let rows: RowMaker<D>
  private let dom: D
  private let box: Node
  private let title: Node
  private var shown = ""
  /// Addresses that stood in the text when it was taken up.
  private var takenUp: [String] = []
  /// Counts addresses: an answer to an older one is none.
  private var version = 0

  init(_ rows: RowMaker<D>, in parent: Node) {
    self.rows = rows
    dom = rows.app.dom
    box = dom.element("div", "ma-writer-banner", in: parent)
    dom.setAttribute(box, "role", "status")
    Drawing.link.draw(dom, in: box)
    title = dom.element("span", "ma-writer-text", in: box)
    dom.setFlag(box, "hidden", true)
  }

  /// A text that nobody has written just now: a draft, or a message to be edited.
  func takeUp(_ text: String) {
    takenUp = links(in: text)
    show("", in: nil)
  }

  func update(_ text: String, in room: Room?) {
    if text.utf8.isEmpty { takenUp = [] }
    let url = mayAsk(in: room) ? links(in: text).first ?? "" : ""
    show(takenUp.contains { $0.hasSameBytes(as: url) } ? "" : url, in: room?.id)
  }

  private func mayAsk(in room: Room?) -> Bool { rows.canPreview && room?.isEncrypted == false && rows.app.showsPreviews }

  private func links(in text: String) -> [String] { MessageContent(kind: .text, body: ByteString(text)).links }

  private func show(_ url: String, in room: RoomID?) {
    guard !url.hasSameBytes(as: shown) else { return }
    shown = url
    version += 1
    dom.setFlag(box, "hidden", true)
    dom.flush()
    guard let room, !url.utf8.isEmpty else { return }
    let asked = version
    Host.after(milliseconds: Self.pauseMilliseconds) { [self] in
      guard asked == version, mayAsk(in: rows.app.client.room(room)) else { return }
      rows.askForPreview(of: url) { [self] page in
        guard asked == version, let words = page.title?.string, !words.utf8.isEmpty else { return }
        dom.setText(title, page.siteName.map { $0.string + " · " + words } ?? words)
        dom.setFlag(box, "hidden", false)
        dom.flush()
      }
    }
  }
}
