import ClientCore
import ClientHost
import JSON
import MatrixModel
import Messenger
import PageWidgets

/// Files that were picked, pasted or dropped, with words for them, before they are sent.
final class FilesDialog<D: DOM> {
  private let app: App<D>
  private var files: [OutgoingMedia]
  /// One for each file, and within it what takes the file away.
  private var items: [(node: Node, remove: Node)] = []
  private var isGallery: Bool
  private var isSilent = false

  /// - Parameter send: gets the files, what was written, whether they go out as one message, and whether nobody is notified of them.
  @discardableResult
  init(
    _ app: App<D>, _ files: [OutgoingMedia], in frame: DialogFrame<D>,
    _ send: @escaping ([OutgoingMedia], String, Bool, Bool) -> Void
  ) {
    let dom = app.dom
    self.app = app
    self.files = files
    let canBeGallery = (2...OutgoingMessage.galleryLimit).contains(files.count)
    isGallery = canBeGallery
    var isSent = false
    frame.setTitle(.sendFiles)
    let form = dom.element("form", "ma-form", in: frame.body)
    let list = dom.element("div", "ma-files", in: form)
    let caption = Field(dom, .caption, in: form)
    for media in files {
      let item = dom.element("div", "ma-files-item", in: list)
      let name = media.file.fileName.string
      let shown = media.kind == .image ? media.file : media.thumbnail
      if let blob = shown?.blob, let url = app.effects.blobs.url(blob) {
        let picture = dom.element("img", "ma-files-picture", in: item)
        dom.setAttribute(picture, "alt", name)
        dom.setImage(picture, url)
      } else {
        dom.element("p", "ma-files-name", text: name, in: item)
      }
      let remove = dom.button("ma-round", icon: .close, label: Strings[.removeNamed, name], in: item)
      dom.setFlag(remove, "hidden", files.count < 2)
      dom.on(remove, .click) { [self] _ in take(item, caption.input) }
      items.append((item, remove))
    }
    frame.setFirst(caption.input)
    if canBeGallery { dom.check(Strings[.asOneMessage], isOn: true, in: form) { [self] in isGallery = $0 } }
    dom.check(Strings[.sendSilently], isOn: false, in: form) { [self] in isSilent = $0 }
    let buttons = dom.element("div", "ma-buttons", in: form)
    let cancel = dom.button("ma-button", .cancel, in: buttons)
    dom.button("ma-button ma-primary", .send, submits: true, in: buttons)
    dom.on(cancel, .click) { _ in frame.close() }
    dom.on(form, .submit) { [self] _ in
      isSent = true
      frame.close()
      send(self.files, caption.text.trimmed, isGallery && self.files.count > 1, isSilent)
    }
    frame.onEnd = { [self] in
      if !isSent { for media in self.files { release(media) } }
    }
  }

  /// Removes a file unless it is the last. The focus moves to the file that takes its place.
  private func take(_ item: Node, _ next: Node) {
    guard let index = items.firstIndex(where: { $0.node == item }), files.count > 1 else { return }
    release(files.remove(at: index))
    items.remove(at: index)
    let isLast = files.count == 1
    if isLast { app.dom.setFlag(items[0].remove, "hidden", true) }
    app.dom.focus(isLast ? next : items[min(index, items.count - 1)].remove)
    app.dom.release(item)
  }

  private func release(_ media: OutgoingMedia) {
    if let blob = media.file.blob { app.effects.blobs.release(blob) }
    if let blob = media.thumbnail?.blob { app.effects.blobs.release(blob) }
  }
}
