/// What can change without any row changing.
extension Timeline {
  /// Gives all bubbles another look; the reading position is kept.
  public func setBubbles(_ bubbles: BubbleConfiguration) {
    let candidates = anchorCandidates()
    dom.setClass(root, bubbles.classes)
    for (name, value) in bubbles.properties { dom.setStyle(root, name, value) }
    fresh = rendered
    finish(Transaction(candidates: candidates))
  }

  /// Registers how content of a kind is drawn; rows that are already shown keep what they have.
  public func register(content kind: String, _ renderer: ContentRenderer) {
    filler.builder.renderers.removeAll { $0.kind.hasSameBytes(as: kind) }
    filler.builder.renderers.append((kind, renderer))
  }

  /// Tells where the playing of a row's sound stands; nil ends it. Costs no layout: call it as often as the screen is drawn.
  public func setPlayback(_ row: RowID, part: Int, _ state: Playback?) {
    if let old = playback, old.row != row || old.part != part { show(nil, old.row, old.part) }
    playback = state.map { (row, part, $0) }
    show(state, row, part)
    dom.flush()
  }

  private func show(_ state: Playback?, _ row: RowID, _ part: Int) {
    guard let view = rendered.first(where: { $0.id == row }), let index = store.index(of: row),
      case .message(let message) = store[index].row.content, message.body.parts.indices.contains(part),
      case .audio(let audio) = message.body.parts[part], options.actions.contains(.play),
      view.parts.indices.contains(part + view.partsBeforeBody)
    else { return }
    filler.builder.show(state, in: view.parts[part + view.partsBeforeBody], duration: audio.durationMilliseconds)
  }
}
