import ClientCore
import JSON
import MatrixModel
import Messenger

/// Files that were picked, pasted or dropped, with words for them, before they are sent.
final class FilesDialog<D: DOM> {
  private let files: [OutgoingMedia]
  private var isGallery: Bool
  private var isSilent = false

  /// - Parameter send: gets the files, what was written, whether they go out as one message, and whether nobody is notified of them.
  @discardableResult
  init(
    _ app: App<D>, _ files: [OutgoingMedia], in frame: DialogFrame<D>,
    _ send: @escaping ([OutgoingMedia], String, Bool, Bool) -> Void
  ) {
    let dom = app.dom
    self.files = files
    let canBeGallery = (2...OutgoingMessage.galleryLimit).contains(files.count)
    isGallery = canBeGallery
    var isSent = false
    frame.setTitle(.sendFiles)
    let form = dom.element("form", "ma-form", in: frame.body)
    let list = dom.element("div", "ma-files", in: form)
    for media in files {
      let shown = media.kind == .image ? media.file : media.thumbnail
      guard let blob = shown?.blob, let url = app.effects.blobs.url(blob) else {
        dom.element("p", "ma-files-name", text: media.file.fileName.string, in: list)
        continue
      }
      let picture = dom.element("img", "ma-files-picture", in: list)
      dom.setAttribute(picture, "alt", media.file.fileName.string)
      dom.setImage(picture, url)
    }
    let caption = Field(dom, .caption, in: form)
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
      send(files, caption.text.trimmed, isGallery, isSilent)
    }
    frame.onEnd = {
      if isSent { return }
      for media in files {
        if let blob = media.file.blob { app.effects.blobs.release(blob) }
        if let blob = media.thumbnail?.blob { app.effects.blobs.release(blob) }
      }
    }
  }
}
