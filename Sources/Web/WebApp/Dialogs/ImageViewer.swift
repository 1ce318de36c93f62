import Messenger
import WebHost

/// A picture or a video as large as the window.
struct ImageViewer<D: DOM> {
  /// - Parameter download: where the file can be had; nil while only this page has it.
  init(_ app: App<D>, source: String, name: String, download: String?, isVideo: Bool = false, in frame: DialogFrame<D>) {
    let dom = app.dom
    frame.setTitle(name, classes: "ma-dialog ma-viewer")
    let box = dom.element("div", "ma-viewer-box", in: frame.body)
    dom.element("span", "mg-spinner", in: box)
    let image = dom.element(isVideo ? "video" : "img", "ma-viewer-image", in: box)
    dom.setAttribute(image, isVideo ? "aria-label" : "alt", isVideo ? name : Strings[.imageNamed, name])
    if isVideo { for flag in ["controls", "autoplay", "playsinline"] { dom.setFlag(image, flag, true) } }
    dom.setImage(image, source)
    dom.on(box, .click) { event in if event.node != image { frame.close() } }
    guard let download else { return }
    let button = dom.button("ma-button", Strings[.download], icon: .download, in: frame.body)
    dom.on(button, .click) { _ in
      Host.download(url: download, fileName: name) { isDone in
        if !isDone { app.notices.show(Strings[.downloadFailed], isTrouble: true) }
      }
    }
  }
}
