/// Pictures, videos, galleries, files.
extension PartBuilder {
  func picture(_ image: ImageBody, _ kind: PartView.Kind, _ context: PartContext) -> PartView {
    let isOpened = kind != .sticker && actions.contains(.openMedia)
    let box = dom.element(isOpened ? "button" : "div", kind == .sticker ? "mg-picture mg-sticker-box" : "mg-picture")
    let view = PartView(box, kind)
    if isOpened {
      dom.setAttribute(box, "type", "button")
      view.targets.append((box, .media(item: 0)))
    }
    let blur = self.blur(in: box)
    let picture = dom.element("img", "mg-picture-image", in: box)
    dom.setAttribute(picture, "draggable", "false")
    let (bar, fill) = progress(in: box)
    view.nodes = [box, picture, blur, bar, fill]
    self.fill(view, image, context)
    return view
  }

  func fill(_ view: PartView, _ image: ImageBody, _ context: PartContext) {
    let size = PictureBox(width: image.width, height: image.height, timelineWidth: context.width)
    let box = view.nodes[0]
    fill(view.nodes[1], view.nodes[2], image)
    dom.setLength(box, .width, size.width)
    dom.setLength(box, .height, size.height)
    let opening = view.kind == .video ? options.phrases.openVideo : options.phrases.openImage
    if !view.targets.isEmpty { label(box, opening(image.name)) }
    setProgress(view.nodes[3], view.nodes[4], image.uploadProgress)
  }

  private func blur(in box: Node) -> Node {
    let blur = dom.element("img", "mg-picture-blur", in: box)
    dom.setAttribute(blur, "alt", "")
    return blur
  }

  private func fill(_ picture: Node, _ blur: Node, _ image: ImageBody) {
    dom.setAttribute(picture, "alt", image.name)
    dom.setImage(blur, image.blurHash.utf8.isEmpty ? nil : BlurHash.image(image.blurHash))
    dom.setImage(picture, image.thumbnail)
  }

  func video(_ video: VideoBody, _ context: PartContext) -> PartView {
    let view = picture(video.poster, .video, context)
    let badge = dom.element("span", "mg-video-badge", in: view.node)
    Icon.play.draw(dom, in: badge)
    text(ClockText.minutes(video.durationMilliseconds), "mg-video-time", in: badge)
    return view
  }

  // MARK: Galleries

  func gallery(_ gallery: GalleryBody, _ context: PartContext) -> PartView {
    let view = PartView(dom.element("div", "mg-gallery"), .gallery)
    let plan = GalleryPlan(gallery, timelineWidth: context.width)
    if gallery.layout == .row { dom.setClass(view.node, "mg-gallery mg-gallery-row") }
    dom.setLength(view.node, .width, plan.width)
    dom.setLength(view.node, .height, plan.height)
    dom.setAttribute(view.node, "role", "group")
    for (index, item) in gallery.items.prefix(GalleryBody.itemsLimit).enumerated() {
      let cell = control(actions.contains(.openMedia), "mg-picture", in: view.node, view, .media(item: index))
      dom.setLength(cell, .width, plan.cells[index].width)
      dom.setLength(cell, .height, plan.cells[index].height)
      let blur = self.blur(in: cell)
      fill(dom.element("img", "mg-picture-image", in: cell), blur, item.picture)
      if item.isVideo { Icon.play.draw(dom, in: dom.element("span", "mg-video-badge", in: cell)) }
      let name = item.isVideo ? options.phrases.openVideo(item.picture.name) : options.phrases.openImage(item.picture.name)
      label(cell, name, isControl: actions.contains(.openMedia))
      if index == GalleryBody.itemsLimit - 1, gallery.items.count > GalleryBody.itemsLimit {
        dom.element("span", "mg-gallery-more", text: "+\(gallery.items.count - GalleryBody.itemsLimit)", in: cell)
      }
    }
    return view
  }

  // MARK: Files

  func file(_ file: FileBody) -> PartView {
    let view = PartView(dom.element("div", "mg-file"), .file)
    let open = control(actions.contains(.openFile), "mg-file-box", in: view.node, view, .file)
    Icon.document.draw(dom, in: dom.element("span", "mg-file-icon", in: open))
    let lines = dom.element("span", "mg-file-lines", in: open)
    let name = dom.element("span", "mg-file-name", in: lines)
    let detail = dom.element("span", "mg-file-detail", in: lines)
    let (bar, fill) = progress(in: view.node)
    view.nodes = [name, detail, bar, fill]
    self.fill(view, file)
    return view
  }

  func fill(_ view: PartView, _ file: FileBody) {
    dom.setText(view.nodes[0], file.name)
    dom.setText(view.nodes[1], file.detail)
    setProgress(view.nodes[2], view.nodes[3], file.uploadProgress)
  }

  // MARK: Progress

  func progress(in parent: Node) -> (bar: Node, fill: Node) {
    let bar = dom.element("div", "mg-progress", in: parent)
    dom.setAttribute(bar, "role", "progressbar")
    dom.setAttribute(bar, "aria-valuemin", "0")
    dom.setAttribute(bar, "aria-valuemax", "100")
    label(bar, options.phrases.uploading)
    return (bar, dom.element("div", "mg-progress-bar", in: bar))
  }

  func setProgress(_ bar: Node, _ fill: Node, _ fraction: Double?) {
    dom.setFlag(bar, "hidden", fraction == nil)
    guard let fraction else { return }
    // Written so that what is no number counts as nothing.
    let clamped = fraction > 0 ? min(1, fraction) : 0
    dom.setVariable(fill, "--mg-progress", clamped)
    dom.setAttribute(bar, "aria-valuenow", "\(Int(clamped * 100))")
  }
}

public enum ClockText {
  /// Minutes and seconds, such as "3:07"; empty where unknown.
  public static func minutes(_ milliseconds: Int64) -> String {
    guard milliseconds > 0 else { return "" }
    let seconds = (milliseconds / 1000) + (milliseconds % 1000 >= 500 ? 1 : 0)
    return "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
  }
}
