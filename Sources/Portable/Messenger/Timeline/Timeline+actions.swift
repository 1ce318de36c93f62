/// From clicks to actions.
extension Timeline {
  /// The row an element belongs to.
  func view(of element: Node) -> RowView? {
    var at = element
    while at.id > Node.root.id {
      let parent = dom.parent(of: at)
      if parent == parts.window {
        for view in rendered where view.node == at { return view }
        return nil
      }
      at = parent
    }
    return nil
  }

  @discardableResult
  func act(_ action: TimelineAction) -> Bool { onAction?(action) ?? false }

  func clicked(_ event: PageEvent) -> EventReply {
    walkedRow = nil
    if event.node == parts.headRetry, event.node != .none {
      act(.retryHead)
      return .pass
    }
    if event.node == parts.tailRetry, event.node != .none {
      act(.retryTail)
      return .pass
    }
    if selection != nil { return clickedSelecting(event) }
    guard let view = view(of: event.node) else { return .pass }
    var at = event.node
    while at != view.node, at.id > Node.root.id {
      if clickedTool(at, of: view, event) { return .pass }
      if let found = view.target(of: at) { return run(found.target, part: found.part ?? 0, of: view, event) }
      if let slot = Slot(rawValue: at.id - view.node.id), run(slot, of: view) { return .pass }
      at = dom.parent(of: at)
    }
    return .pass
  }

  private func run(_ slot: Slot, of view: RowView) -> Bool {
    switch slot {
    case .retry: act(view.kind == .gap ? .retryGap(view.id) : view.kind == .line ? .toggleFold(view.id) : .retry(view.id))
    case .cancel: act(.cancel(view.id))
    case .avatar, .initials, .avatarImage, .name:
      guard options.actions.contains(.openSender) else { return false }
      act(.openSender(view.id))
    default: return false
    }
    return true
  }

  private func run(_ target: Target, part: Int, of view: RowView, _ event: PageEvent) -> EventReply {
    let id = view.id
    switch target {
    case .link(let url): return act(.openLink(id, url: url)) ? .preventDefault : .pass
    case .mention(let mention): act(.openMention(id, id: mention))
    case .spoiler: reveal(id)
    case .copy(let text): act(.copy(id, text: text))
    case .media(let item): act(.openMedia(id, part: part, item: item))
    case .file: act(.openFile(id, part: part))
    case .location: act(.openLocation(id, part: part))
    case .quote: goToReply(of: id)
    case .vote(let answer): vote(answer, id, part)
    case .play: act(.play(id, part: part))
    case .rate: act(.changeRate(id, part: part))
    case .seek: break
    case .reaction(let key): act(.react(id, key: key))
    case .reactors: act(.showReactors(id))
    case .addReaction: act(.addReaction(id, x: event.x, y: event.y))
    case .thread: act(.openThread(id))
    case .readers: act(.showReaders(id))
    }
    return .pass
  }

  /// Shows what is hidden in a row, for as long as this timeline is loaded.
  private func reveal(_ row: RowID) {
    guard let index = store.index(of: row), !revealed.contains(row) else { return }
    revealed.append(row)
    apply([.update(store[index].row)])
  }

  private func goToReply(of row: RowID) {
    guard let index = store.index(of: row), case .message(let message) = store[index].row.content,
      let reply = message.surroundings?.reply
    else { return }
    if let target = reply.row, scroll(to: target, place: .centre, highlight: true) { return }
    act(.openReply(row))
  }

  private func vote(_ answer: Int, _ row: RowID, _ part: Int) {
    guard let index = store.index(of: row), case .message(let message) = store[index].row.content,
      message.body.parts.indices.contains(part), case .poll(let poll) = message.body.parts[part],
      let choice = poll.choice(switching: answer)
    else { return }
    act(.vote(row, part: part, answers: choice))
  }

  /// A slider was moved.
  func changed(_ event: PageEvent) {
    guard let view = view(of: event.node), case (.seek, let part?)? = view.target(of: event.node) else { return }
    var value = 0
    for byte in Array(event.text.utf8) {
      guard byte >= 0x30, byte <= 0x39, value < 10_000 else { break }
      value = value * 10 + Int(byte - 0x30)
    }
    act(.seek(view.id, part: part, fraction: min(1, Double(value) / 1000)))
  }
}
