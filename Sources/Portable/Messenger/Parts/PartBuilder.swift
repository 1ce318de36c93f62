/// Makes the elements of parts. Text goes in as text only.
final class PartBuilder<D: DOM> {
  let dom: D
  let options: TimelineOptions
  var renderers: [(kind: String, renderer: ContentRenderer)] = []

  init(_ dom: D, _ options: TimelineOptions) {
    self.dom = dom
    self.options = options
  }

  var actions: ActionSet { options.actions }

  func build(_ part: ContentPart, _ context: PartContext) -> PartView {
    switch part {
    case .text(let text): plain(context.prefix + text)
    case .rich(let text): rich(text, context)
    case .image(let image): picture(image, .image, context)
    case .sticker(let image): picture(image, .sticker, context)
    case .video(let video): self.video(video, context)
    case .gallery(let gallery): self.gallery(gallery, context)
    case .file(let file): self.file(file)
    case .audio(let audio): self.audio(audio, context)
    case .location(let location): self.location(location)
    case .poll(let poll): self.poll(poll)
    case .preview(let preview): self.preview(preview, context)
    case .contact(let contact): self.contact(contact)
    case .custom(let content): custom(content, context)
    }
  }

  /// Writes a part into the elements it has; false where it must be built anew.
  func update(_ view: PartView, _ part: ContentPart, _ context: PartContext) -> Bool {
    switch (part, view.kind) {
    case (.image(let image), .image), (.sticker(let image), .sticker):
      fill(view, image, context)
      return true
    case (.video(let video), .video):
      fill(view, video.poster, context)
      return true
    case (.file(let file), .file):
      fill(view, file)
      return true
    case (.audio(let audio), .audio) where actions.contains(.play):
      fill(view, audio, context.playback)
      return true
    // What a page made of it stays for as long as nothing else is to be drawn.
    case (.custom(let content), .custom):
      guard let drawn = view.drawn else { return false }
      return drawn.content.isSame(as: content) && drawn.content.height == content.height && drawn.width == context.width
    default: return false
    }
  }

  // MARK: Helpers

  /// A button where the host can do what it stands for, else an element that only shows something.
  func control(_ isActive: Bool, _ classes: String, in parent: Node, _ view: PartView, _ target: Target) -> Node {
    let node = dom.element(isActive ? "button" : "span", classes, in: parent)
    if isActive {
      dom.setAttribute(node, "type", "button")
      view.targets.append((node, target))
    }
    return node
  }

  func label(_ node: Node, _ text: String) { dom.setAttribute(node, "aria-label", text) }

  /// A name for ears on what may be no control.
  func label(_ node: Node, _ text: String, isControl: Bool) {
    label(node, text)
    if !isControl { dom.setAttribute(node, "role", "img") }
  }

  func text(_ text: String, _ classes: String, _ tag: String = "span", in parent: Node) {
    guard !text.utf8.isEmpty else { return }
    dom.element(tag, classes, text: text, in: parent)
  }

  private func plain(_ text: String) -> PartView {
    let view = PartView(dom.element("div", "mg-text mg-part-text"), .text)
    guard let segments = segments(of: text) else {
      dom.setText(view.node, text)
      return view
    }
    for segment in segments { addSegment(segment, in: view.node) { view.targets.append(($0, .link(segment.url))) } }
    return view
  }

  func segments(of text: String) -> [LinkScanner.Segment]? {
    LinkScanner.segments(of: text, findsTerms: actions.contains(.openTerms))
  }

  /// A piece of plain text: a link, a button where it leads to no address, or a span.
  func addSegment(_ segment: LinkScanner.Segment, in parent: Node, _ linked: (Node) -> Void) {
    guard segment.isLink else {
      dom.element("span", text: segment.text, in: parent)
      return
    }
    let link = segment.isTerm ? dom.element("button", "mg-link", in: parent) : self.link(segment.url, "mg-link", in: parent)
    if segment.isTerm { dom.setAttribute(link, "type", "button") }
    dom.setText(link, segment.text)
    linked(link)
  }

  func link(_ url: String, _ classes: String, in parent: Node) -> Node {
    let link = dom.element("a", classes, in: parent)
    dom.setAttribute(link, "href", url)
    dom.setAttribute(link, "target", "_blank")
    dom.setAttribute(link, "rel", "noopener noreferrer")
    return link
  }

  private func custom(_ content: CustomContent, _ context: PartContext) -> PartView {
    for (kind, renderer) in renderers where kind.hasSameBytes(as: content.kind) {
      let view = PartView(dom.element("div", "mg-custom"), .custom)
      if content.height > 0 { dom.setLength(view.node, .height, content.height) }
      view.drawn = (content, context.width)
      view.letGo = renderer.build(content, context.row, view.node, context.width)
      return view
    }
    return plain(content.spoken)
  }
}
