/// Rich text: a walk over the tree that counts what it makes.
extension PartBuilder {
  func rich(_ text: RichText, _ context: PartContext) -> PartView {
    let view = PartView(dom.element("div", "mg-text mg-part-text mg-rich"), .rich)
    var walk = RichWalk(view: view, isRevealed: context.isRevealed)
    if !context.prefix.utf8.isEmpty, case .paragraph(let spans)? = text.blocks.first {
      add([.paragraph([.text(context.prefix)] + spans)] + text.blocks.dropFirst(), in: view.node, &walk, 0)
    } else {
      add(text.blocks, in: view.node, &walk, 0)
    }
    return view
  }

  private func add(_ blocks: [RichBlock], in parent: Node, _ walk: inout RichWalk, _ depth: Int) {
    for (index, block) in blocks.enumerated() {
      guard walk.mayGoOn(depth) else {
        return leave(RichText(Array(blocks[index...])).plain(limit: RichWalk.restLimit), in: parent)
      }
      switch block {
      case .paragraph(let spans): add(spans, in: dom.element("p", in: parent), &walk, depth + 1)
      case .heading(let level, let spans):
        let node = dom.element("p", "mg-heading mg-heading-\(max(1, min(6, level)))", in: parent)
        dom.setAttribute(node, "role", "heading")
        dom.setAttribute(node, "aria-level", "\(max(1, min(6, level)) + 2)")
        add(spans, in: node, &walk, depth + 1)
      case .code(let text, let language): code(text, language, in: parent, &walk)
      case .quote(let blocks): add(blocks, in: directed("blockquote", in: parent), &walk, depth + 1)
      case .list(let start, let items): list(start, items, in: parent, &walk, depth)
      case .table(let head, let rows): table(head, rows, in: parent, &walk, depth)
      case .rule: dom.element("hr", in: parent)
      }
    }
  }

  /// What is beyond the limits, as text.
  private func leave(_ text: String, in parent: Node) { dom.element("span", text: text, in: parent) }

  /// Its direction is that of its own text.
  private func directed(_ tag: String, in parent: Node) -> Node {
    let node = dom.element(tag, in: parent)
    dom.setAttribute(node, "dir", "auto")
    return node
  }

  private func code(_ text: String, _ language: String, in parent: Node, _ walk: inout RichWalk) {
    let box = dom.element("div", "mg-code", in: parent)
    if !language.utf8.isEmpty || actions.contains(.copy) {
      let bar = dom.element("div", "mg-code-bar", in: box)
      dom.element("span", "mg-code-language", text: language, in: bar)
      if actions.contains(.copy) {
        let copy = control(true, "mg-button", in: bar, walk.view, .copy(text))
        dom.setText(copy, options.phrases.copyCode)
      }
    }
    let pre = dom.element("pre", in: box)
    // Only a focusable element can be scrolled sideways by keyboard.
    dom.setAttribute(pre, "tabindex", "0")
    dom.setAttribute(pre, "dir", "ltr")
    dom.element("code", text: text, in: pre)
    walk.elements += 4
  }

  private func list(_ start: Int?, _ items: [[RichBlock]], in parent: Node, _ walk: inout RichWalk, _ depth: Int) {
    let list = directed(start == nil ? "ul" : "ol", in: parent)
    if let start, start != 1 { dom.setAttribute(list, "start", "\(start)") }
    for item in items {
      guard walk.mayGoOn(depth) else { return leave("…", in: list) }
      add(item, in: dom.element("li", in: list), &walk, depth + 1)
    }
  }

  private func table(
    _ head: [[RichSpan]], _ rows: [[[RichSpan]]], in parent: Node, _ walk: inout RichWalk, _ depth: Int
  ) {
    let box = dom.element("div", "mg-table", in: parent)
    dom.setAttribute(box, "tabindex", "0")
    let table = directed("table", in: box)
    func row(_ cells: [[RichSpan]], _ tag: String) {
      let row = dom.element("tr", in: table)
      for cell in cells.prefix(RichText.tableLimit) where walk.mayGoOn(depth) {
        add(cell, in: dom.element(tag, in: row), &walk, depth + 1)
      }
    }
    if !head.isEmpty { row(head, "th") }
    for cells in rows.prefix(RichText.tableLimit) where walk.mayGoOn(depth) { row(cells, "td") }
  }

  // MARK: Spans

  private func add(_ spans: [RichSpan], in parent: Node, _ walk: inout RichWalk, _ depth: Int) {
    if spans.count == 1, case .text(let text) = spans[0], segments(of: text) == nil {
      dom.setText(parent, text)
      return
    }
    for (index, span) in spans.enumerated() {
      guard walk.mayGoOn(depth) else {
        var rest = ""
        RichText.write(Array(spans[index...]), to: &rest, RichWalk.restLimit, depth: 0)
        return leave(rest, in: parent)
      }
      add(span, in: parent, &walk, depth)
    }
  }

  private func add(_ span: RichSpan, in parent: Node, _ walk: inout RichWalk, _ depth: Int) {
    switch span {
    case .text(let text):
      let found = walk.isInLink ? nil : walk.isInCode ? LinkScanner.segments(of: text) : segments(of: text)
      guard let segments = found else {
        dom.element("span", text: text, in: parent)
        return
      }
      let view = walk.view
      for segment in segments { addSegment(segment, in: parent) { view.targets.append(($0, .link(segment.url))) } }
    case .styled(let style, let inner):
      let isInCode = walk.isInCode
      walk.isInCode = isInCode || style == .code
      add(inner, in: dom.element(style.tag, in: parent), &walk, depth + 1)
      walk.isInCode = isInCode
    case .link(let url, let inner):
      guard LinkScanner.isSafe(url), !walk.isInLink else {
        // In an element of its own: a text alone takes the place of everything in its element.
        return add(inner, in: dom.element("span", in: parent), &walk, depth + 1)
      }
      let link = self.link(url, "mg-link", in: parent)
      walk.view.targets.append((link, .link(url)))
      var words = ""
      RichText.write(inner, to: &words, RichWalk.restLimit, depth: 0)
      if LinkScanner.isDeceptive(words, for: url) { return dom.setText(link, url) }
      walk.isInLink = true
      add(inner, in: link, &walk, depth + 1)
      walk.isInLink = false
    case .mention(let mention):
      let classes = mention.isReader ? "mg-pill mg-pill-reader" : "mg-pill"
      let pill = control(actions.contains(.openMention), classes, in: parent, walk.view, .mention(mention.id))
      dom.setText(pill, mention.name)
    case .spoiler(let reason, let inner): spoiler(reason, inner, in: parent, &walk, depth)
    case .emoji(let name, let source):
      let image = dom.element("img", "mg-emoji", in: parent)
      dom.setAttribute(image, "alt", name)
      dom.setAttribute(image, "title", name)
      dom.setImage(image, source)
    case .lineBreak: dom.element("br", in: parent)
    }
  }

  private func spoiler(_ reason: String, _ inner: [RichSpan], in parent: Node, _ walk: inout RichWalk, _ depth: Int) {
    if !reason.utf8.isEmpty { dom.element("span", "mg-spoiler-reason", text: reason, in: parent) }
    let node = dom.element("span", walk.isRevealed ? "mg-spoiler mg-revealed" : "mg-spoiler", in: parent)
    let content = dom.element("span", "mg-spoiler-text", in: node)
    if !walk.isRevealed {
      dom.setAttribute(node, "role", "button")
      dom.setAttribute(node, "tabindex", "0")
      label(node, options.phrases.spoiler(reason))
      dom.setAttribute(content, "aria-hidden", "true")
      walk.view.targets.append((node, .spoiler))
      // What is hidden is not clicked by accident: the whole is one button until it is seen.
      let known = walk.view.targets.count
      add(inner, in: content, &walk, depth + 1)
      walk.view.targets.removeSubrange(known...)
      walk.view.nodes.append(node)
    } else {
      add(inner, in: content, &walk, depth + 1)
    }
  }
}

/// The state of one walk.
struct RichWalk {
  let view: PartView
  let isRevealed: Bool
  var elements = 0
  var isInLink = false
  /// There words mean what a machine makes of them.
  var isInCode = false

  /// Bytes of text that are shown of what is beyond the limits.
  static var restLimit: Int { 20_000 }

  init(view: PartView, isRevealed: Bool) {
    self.view = view
    self.isRevealed = isRevealed
  }

  /// Counts an element.
  mutating func mayGoOn(_ depth: Int) -> Bool {
    elements += 1
    return depth < RichText.depthLimit && elements < RichText.elementsLimit
  }
}

extension SpanStyle {
  var tag: String {
    switch self {
    case .bold: "strong"
    case .italic: "em"
    case .underline: "u"
    case .strike: "s"
    case .code: "code"
    case .subscripted: "sub"
    case .superscripted: "sup"
    }
  }
}
