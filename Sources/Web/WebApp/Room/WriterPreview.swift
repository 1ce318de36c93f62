import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// An address in what is written.
private final class WrittenLink {
  let url: String
  /// `.none` until it is known where it leads.
  var row = Node.none

  init(_ url: String) { self.url = url }
}

/// Previews of the first links that the user types, as the message will show them; the user can remove each, for everybody. The client
/// asks the server after a pause in typing, so that it never asks for half an address. It does not ask for links that were not typed
/// here: they may never be sent.
final class WriterPreview<D: DOM> {
  private static var pauseMilliseconds: Double { 700 }

  private let rows: RowMaker<D>
  private let dom: D
  private let box: Node
  private var entries: [WrittenLink] = []
  /// Addresses that stood in the text when it was taken up.
  private var takenUp: [String] = []
  /// Those in the text of which nobody shall be shown a preview.
  private(set) var vetoed: [ByteString] = []
  /// The text goes on being written.
  var onVeto: () -> Void = {}

  init(_ rows: RowMaker<D>, in parent: Node) {
    self.rows = rows
    dom = rows.app.dom
    box = dom.element("div", "ma-writer-previews", in: parent)
    dom.setAttribute(box, "role", "status")
  }

  /// A text that nobody has written just now: a draft, or a message to be edited.
  func takeUp(_ text: String, _ vetoed: [ByteString] = []) {
    self.vetoed = vetoed
    takenUp = content(text).links
    show([], in: nil)
  }

  func update(_ text: String, in room: Room?) {
    if text.utf8.isEmpty { takenUp = [] }
    let content = content(text)
    // What is written anew may be shown again.
    if !vetoed.isEmpty {
      let (links, old) = (content.links, vetoed)
      vetoed = []
      for url in old where isAmong(links, url.string) { vetoed.append(url) }
    }
    show(mayAsk(in: room) ? content.previewed : [], in: room?.id)
  }

  private func mayAsk(in room: Room?) -> Bool { rows.canPreview && rows.app.showsPreviews(in: room) }

  private func content(_ text: String) -> MessageContent {
    MessageContent(kind: .text, body: ByteString(text), details: .text(unpreviewed: vetoed))
  }

  private func isAmong(_ urls: [String], _ url: String) -> Bool { urls.contains { $0.hasSameBytes(as: url) } }

  private func show(_ urls: [String], in room: RoomID?) {
    for entry in entries where !isAmong(urls, entry.url) { remove(entry) }
    guard let room else { return }
    for url in urls where !isAmong(takenUp, url) && !entries.contains(where: { $0.url.hasSameBytes(as: url) }) {
      let entry = WrittenLink(url)
      entries.append(entry)
      Host.after(milliseconds: Self.pauseMilliseconds) { [self] in
        guard place(of: entry) != nil, mayAsk(in: rows.app.client.room(room)) else { return }
        rows.askForPreview(of: url) { [self] page in
          guard let words = page.title?.string, !words.utf8.isEmpty, place(of: entry) != nil else { return }
          show(page.siteName.map { $0.string + " · " + words } ?? words, entry)
        }
      }
    }
  }

  /// nil for one that is not wanted any more.
  private func place(of entry: WrittenLink) -> Int? { entries.firstIndex { $0 === entry } }

  private func show(_ words: String, _ entry: WrittenLink) {
    let row = dom.element("div", "ma-writer-banner", in: box)
    entry.row = row
    Drawing.link.draw(dom, in: row)
    dom.element("span", "ma-writer-text", text: words, in: row)
    let veto = dom.button("ma-round ma-round-small", icon: .close, label: Strings[.noPreviewOf, words], in: row)
    dom.on(veto, .click) { [self] _ in
      vetoed.append(ByteString(entry.url))
      remove(entry)
      onVeto()
    }
    dom.flush()
  }

  private func remove(_ entry: WrittenLink) {
    guard let index = place(of: entry) else { return }
    entries.remove(at: index)
    if entry.row != .none { dom.release(entry.row) }
    dom.flush()
  }
}
