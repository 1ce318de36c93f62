import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// All that was shared in a room: pictures and videos by month, files, links.
final class SharedPanel<D: DOM> {
  /// As near to the end the next page is fetched.
  private static var nearPixels: Double { 600 }
  private static var kinds: [SoughtMessages.Kind] { [.pictures, .files, .links] }

  private let app: App<D>
  private let dom: D
  private let room: RoomID
  private let found: (EventID) -> Void
  private(set) var finder: MessageFinder<D>?
  private var kind = SoughtMessages.Kind.pictures
  private var pictures: [ImageViewer<D>.Picture] = []
  private var month = ""
  private var grid = Node.none

  init(_ app: App<D>, _ room: RoomID, in parent: Node, _ found: @escaping (EventID) -> Void) {
    self.app = app
    self.room = room
    self.found = found
    dom = app.dom
    let tabs = Tabbed(dom, Self.kinds.map { $0.words }, in: parent)
    let scroller = dom.element("div", "ma-shared", in: parent)
    let finder = MessageFinder(app, in: scroller, emptyNote: self.kind.emptyNote) { [self] message, parts, _ in
      for part in parts { show(part, message) }
      return .none
    }
    self.finder = finder
    tabs.onChange = { [self] in
      kind = Self.kinds[$0]
      begin()
    }
    dom.on(scroller, .scroll) { [self] event in
      let height = dom.measure([finder.list]).first ?? 0
      if event.x + event.y + Self.nearPixels > Double(height) { finder.loadMore() }
    }
    begin()
    tabs.focus()
  }

  private func begin() {
    pictures = []
    grid = .none
    var sought = SoughtMessages()
    sought.room = room
    sought.kind = kind
    guard let finder else { return }
    dom.setFlag(finder.list, "data-lines", kind != .pictures)
    finder.begin(sought)
  }

  private func smallPicture(_ file: Attachment, isVideo: Bool) -> String? {
    if file.encrypted != nil { return app.thumbnailSource(file) ?? (isVideo ? nil : app.mediaSource(file)) }
    return (isVideo ? file.thumbnail : file.thumbnail ?? file.source).map { app.tileSource($0) }
  }

  private func show(_ part: MessageContent, _ message: FoundMessage) {
    guard let finder else { return }
    let list = finder.list
    guard let file = part.attachment, let url = app.mediaSource(file) else {
      guard let url = part.link else { return }
      let link = line("a", url, "", message, in: list)
      dom.setAttribute(link, "href", url)
      dom.setAttribute(link, "target", "_blank")
      return dom.setAttribute(link, "rel", "noopener noreferrer")
    }
    let name = file.fileName.string
    guard kind == .pictures else {
      let size = file.sizeBytes.map { " · " + Host.byteCountLabel($0) } ?? ""
      let entry = line("button", name, size, message, in: list)
      let note = dom.element("span", "ma-note", in: entry)
      let version = finder.version
      return dom.on(entry, .click) { [app] _ in
        app.download(url, named: name, telling: note) { finder.version == version }
      }
    }
    let label = Host.monthLabel(message.timestampMilliseconds)
    if grid == .none || !label.hasSameBytes(as: month) {
      month = label
      dom.element("h3", "ma-shared-month", text: label, in: list)
      grid = dom.element("div", "ma-shared-grid", in: list)
    }
    let isVideo = part.kind == .video
    let tile = dom.button(
      isVideo ? "ma-tile ma-tile-video" : "ma-tile", label: Strings[isVideo ? .openVideo : .openImage, name], in: grid)
    dom.element("span", "ma-tile-name", text: name, in: tile)
    if let small = smallPicture(file, isVideo: isVideo) {
      let image = dom.element("img", in: tile)
      dom.setAttribute(image, "alt", "")
      dom.setImage(image, small)
    }
    let index = pictures.count
    pictures.append(ImageViewer<D>.Picture(source: url, name: name, isVideo: isVideo, download: url, event: message.id))
    dom.on(tile, .click) { [self] _ in
      app.dialogs.open { frame in
        ImageViewer(app, pictures, at: index, in: frame).onShow = { [self] in
          frame.close()
          found($0)
        }
      }
    }
  }

  /// A line with what it leads to, and the way to its message. The element is what is clicked.
  private func line(_ tag: String, _ name: String, _ detail: String, _ message: FoundMessage, in list: Node) -> Node {
    let line = dom.element("div", "ma-shared-line", in: list)
    let entry = dom.element(tag, "ma-result", in: line)
    dom.element("span", "ma-result-text", text: name, in: entry)
    dom.element("span", "ma-result-name", text: app.words(of: message) + detail, in: entry)
    let button = dom.button("ma-round", icon: .chat, label: Strings[.showMessage, of: name], in: line)
    dom.on(button, .click) { [self] _ in found(message.id) }
    return entry
  }
}
