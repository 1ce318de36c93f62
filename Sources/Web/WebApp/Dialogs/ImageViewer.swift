import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// A picture or a video as large as the window, and those of the conversation before and after it.
final class ImageViewer<D: DOM> {
  struct Picture {
    let source: String
    let name: String
    let isVideo: Bool
    /// Where the file can be had; nil while only this page has it.
    let download: String?
    /// Its message, where there is a way there.
    var event: EventID?
  }

  /// Leads to the message of the picture.
  var onShow: (EventID) -> Void = { _ in }

  private let app: App<D>
  private let dom: D
  private let frame: DialogFrame<D>
  private let pictures: [Picture]
  private var shown: Int
  /// Counts shown pictures, so that answers for an earlier picture are ignored.
  private var version = 0
  private let content: Node

  init(_ app: App<D>, _ pictures: [Picture], at index: Int, in frame: DialogFrame<D>) {
    self.app = app
    self.frame = frame
    self.pictures = pictures
    shown = index
    dom = app.dom
    let stage = dom.element("div", "ma-viewer-stage", in: frame.body)
    let previous = pictures.count > 1 ? dom.button("ma-round", icon: .back, label: .previous, in: stage) : .none
    content = dom.element("div", "ma-viewer-content", in: stage)
    if pictures.count > 1 {
      let next = dom.button("ma-round ma-viewer-next", icon: .back, label: .nextOne, in: stage)
      dom.on(previous, .click) { [self] _ in go(by: -1) }
      dom.on(next, .click) { [self] _ in go(by: 1) }
    }
    dom.listen(frame.box, .keyDown) { [self] event in pressed(event) }
    show()
  }

  private func pressed(_ event: PageEvent) -> EventReply {
    switch event.key {
    case .arrowLeft: go(by: -1)
    case .arrowRight: go(by: 1)
    default: return .pass
    }
    return .preventDefault
  }

  private func go(by step: Int) {
    shown = (shown + step + pictures.count) % pictures.count
    show()
    dom.flush()
  }

  private func show() {
    let picture = pictures[shown]
    let isVideo = picture.isVideo
    frame.setTitle(picture.name, look: "ma-viewer")
    dom.releaseChildren(of: content)
    version += 1
    let version = version
    let box = dom.element("div", "ma-viewer-box", in: content)
    dom.element("span", "mg-spinner", in: box)
    let image = dom.element(isVideo ? "video" : "img", "ma-viewer-image", in: box)
    dom.setAttribute(image, isVideo ? "aria-label" : "alt", isVideo ? picture.name : Strings[.imageNamed, picture.name])
    if isVideo { for flag in ["controls", "autoplay", "playsinline"] { dom.setFlag(image, flag, true) } }
    dom.setImage(image, picture.source)
    var isLarge = false
    dom.on(box, .click) { [self] event in
      guard event.node == image else { return frame.close() }
      guard !isVideo else { return }
      isLarge.toggle()
      dom.setClass(box, isLarge ? "ma-viewer-box ma-viewer-large" : "ma-viewer-box")
      dom.flush()
    }
    let buttons = dom.element("div", "ma-buttons", in: content)
    if let event = picture.event {
      dom.on(dom.button("ma-button", .showMessage, icon: .chat, in: buttons), .click) { [self] _ in onShow(event) }
    }
    guard let download = picture.download else { return }
    let note = dom.element("span", "ma-note", in: content)
    for (shares, words) in [(false, Strings.Key.download), (true, .share)] where !shares || Host.pageState.contains(.canShare) {
      let button = dom.button("ma-button", words, icon: shares ? .exit : .download, in: buttons)
      dom.on(button, .click) { [self] _ in
        app.download(download, named: picture.name, shares: shares, telling: note) { [self] in
          frame.isOpen && version == self.version
        }
      }
    }
  }
}
