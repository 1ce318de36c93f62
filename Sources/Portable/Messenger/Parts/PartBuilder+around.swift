/// What stands around a body.
extension PartBuilder {
  func header(_ text: String) -> PartView { PartView(dom.element("div", "mg-header", text: text), .header) }

  func quote(_ reply: ReplyQuote) -> PartView {
    let isActive = reply.row != nil || actions.contains(.openReply)
    let view = PartView(dom.element("div", "mg-quote-box"), .quote)
    let quote = control(isActive, "mg-quote", in: view.node, view, .quote)
    let name = reply.sender?.name ?? ""
    if isActive { label(quote, options.phrases.replyTo(name) + ": " + reply.text) }
    if let sender = reply.sender {
      dom.element("span", "mg-quote-name mg-colour-\(sender.colour)", text: name, in: quote)
    }
    text(reply.text, "mg-quote-text", in: quote)
    return view
  }

  /// Everything below the bubble; nil where there is nothing.
  /// - Parameters:
  ///   - progress: how far the message has come; empty if it is not said. The faces of readers say more.
  ///   - isRead: there are readers, who can be asked for.
  func below(_ around: Surroundings?, progress: String, isRead: Bool) -> PartView? {
    guard around?.standsBelow ?? false || !progress.utf8.isEmpty else { return nil }
    let view = PartView(dom.element("div", "mg-below-parts"), .reactions)
    if let around {
      if let warning = around.warning { self.warning(warning, view) }
      text(around.footer, "mg-footer", "div", in: view.node)
      if !around.reactions.isEmpty { reactions(around.reactions, view) }
      if let thread = around.thread { self.thread(thread, view) }
      if around.readerCount > 0 {
        readers(around, view)
        return view
      }
    }
    if !progress.utf8.isEmpty { self.progress(progress, isRead, view) }
    return view
  }

  /// Of the row's name, which says it, a screen reader needs no echo; who has read it can be asked for.
  private func progress(_ words: String, _ isRead: Bool, _ view: PartView) {
    let isControl = isRead && actions.contains(.showReaders)
    let line = control(isControl, "mg-state", in: view.node, view, .readers)
    dom.setText(line, words)
    if !isControl { dom.setAttribute(line, "aria-hidden", "true") }
  }

  private func warning(_ warning: Warning, _ view: PartView) {
    let sign = dom.element("div", warning.isSerious ? "mg-warning mg-serious" : "mg-warning", in: view.node)
    dom.setAttribute(sign, "title", warning.text)
    label(sign, warning.text, isControl: false)
    Icon.shield.draw(dom, in: sign)
  }

  private func reactions(_ reactions: [Reaction], _ view: PartView) {
    let row = dom.element("div", "mg-reactions", in: view.node)
    for reaction in reactions.prefix(Surroundings.reactionsLimit) {
      let classes = reaction.isOwn ? "mg-chip mg-chosen" : "mg-chip"
      let chip = control(actions.contains(.react), classes, in: row, view, .reaction(reaction.key))
      if actions.contains(.react) { dom.setAttribute(chip, "aria-pressed", reaction.isOwn ? "true" : "false") }
      let spoken = options.phrases.reaction(reaction.key, reaction.count, reaction.people)
      label(chip, spoken, isControl: actions.contains(.react))
      if !reaction.people.utf8.isEmpty { dom.setAttribute(chip, "title", reaction.people) }
      if let source = reaction.source {
        let image = dom.element("img", "mg-emoji", in: chip)
        dom.setAttribute(image, "alt", reaction.key)
        dom.setImage(image, source)
      } else {
        dom.element("span", "mg-chip-key", text: reaction.key, in: chip)
      }
      dom.element("span", "mg-chip-count", text: "\(reaction.count)", in: chip)
    }
    let more = reactions.count - Surroundings.reactionsLimit
    if more > 0 {
      let chip = control(actions.contains(.showReactors), "mg-chip", in: row, view, .reactors)
      dom.setText(chip, "+\(more)")
    }
    if actions.contains(.addReaction) {
      let add = control(true, "mg-chip mg-chip-add", in: row, view, .addReaction)
      label(add, options.phrases.addReaction)
      Icon.smile.draw(dom, in: add)
    }
  }

  private func thread(_ thread: ThreadChip, _ view: PartView) {
    let classes = thread.isUnread ? "mg-thread mg-thread-unread" : "mg-thread"
    let chip = control(actions.contains(.openThread), classes, in: view.node, view, .thread)
    Icon.thread.draw(dom, in: chip)
    dom.element("span", "mg-thread-count", text: options.phrases.replies(thread.replyCount), in: chip)
    if let sender = thread.lastSender {
      dom.avatar(of: sender, "mg-avatar mg-avatar-tiny", in: chip)
      text(sender.name + ": " + thread.lastText, "mg-thread-text", in: chip)
    }
  }

  private func readers(_ around: Surroundings, _ view: PartView) {
    let row = control(actions.contains(.showReaders), "mg-readers", in: view.node, view, .readers)
    label(row, options.phrases.readBy(around.readerCount), isControl: actions.contains(.showReaders))
    let shown = around.readers.prefix(Surroundings.readersLimit)
    for reader in shown { dom.avatar(of: reader, "mg-avatar mg-avatar-tiny", in: row) }
    if around.readerCount > shown.count {
      dom.element("span", "mg-readers-more", text: "+\(around.readerCount - shown.count)", in: row)
    }
  }
}
