/// Fetching, typing, groups.
extension MessengerView {
  // MARK: Fetching at both ends

  /// Ends the fetch that `onNeedOlder` began: nothing moves. Ignored when none is running; an empty batch is legal.
  @discardableResult
  public func endOlder(_ rows: [NewRow], _ head: HeadState = .more(.idle), then: (() -> Void)? = nil) -> [RowHandle] {
    let made = rows.map { self.row($0) }
    enqueue(then) { view in
      if view.timeline.head == .more(.loading) { view.measure(.fetchOlder, failed: head == .more(.failed)) }
      view.timeline.endHeadFetch(made, head: head)
      view.trim()
    }
    return made.map { RowHandle($0.id) }
  }

  /// The same for `onNeedNewer`.
  @discardableResult
  public func endNewer(_ rows: [NewRow], _ tail: TailState = .more(.idle), then: (() -> Void)? = nil) -> [RowHandle] {
    let made = rows.map { self.row($0) }
    enqueue(then) { view in
      if view.timeline.tail == .more(.loading) { view.measure(.fetchNewer, failed: tail == .more(.failed)) }
      if case .more = tail {} else { view.isBehind = false }
      view.timeline.endTailFetch(made, tail: tail)
      view.trim()
    }
    return made.map { RowHandle($0.id) }
  }

  /// Says what is after the last row, for example that newer rows exist.
  public func setTail(_ tail: TailState, then: (() -> Void)? = nil) {
    enqueue(then) { view in
      if case .more = tail {} else { view.isBehind = false }
      view.timeline.setTail(tail)
    }
  }

  // MARK: Typing

  /// A typing row of a person, below all others; any number of them.
  @discardableResult
  public func addTyping(_ sender: Sender, then: (() -> Void)? = nil) -> TypingHandle {
    let handle = makeTyping()
    enqueue(then) { view in
      view.typing.append((handle, TypingMember(sender)))
      view.showTyping()
    }
    return handle
  }

  public func removeTyping(_ handle: TypingHandle, then: (() -> Void)? = nil) {
    enqueue(then) { view in
      guard let index = view.typing.firstIndex(where: { $0.handle == handle }) else { return }
      view.typing.remove(at: index)
      view.showTyping()
    }
  }

  public func hasTyping(_ handle: TypingHandle) -> Bool { typing.contains { $0.handle == handle } }

  private func showTyping() { timeline.setTyping(typing.map { $0.member }) }

  // MARK: Groups

  /// The rows of the group that a message is in, from first to last; empty for other rows and unknown ones.
  public func group(of handle: RowHandle) -> [RowHandle] { timeline.group(of: handle.id).map { RowHandle($0) } }

  /// Adds a message to the end of a group: the group grows, then the message appears, and the avatar comes along.
  @discardableResult
  public func add(_ row: NewRow, toGroupOf handle: RowHandle, then: (() -> Void)? = nil) -> RowHandle {
    let new = self.row(row)
    if isInTransaction {
      // One that is as new as this is not in a group yet.
      let last = timeline.group(of: handle.id).last ?? handle.id
      change([.insertAfter([new], after: last)], motion: .fade, scroll: .automatic, then)
      return RowHandle(new.id)
    }
    enqueue(then) { view in
      guard let last = view.timeline.group(of: handle.id).last else { return }
      view.timeline.apply([.insertAfter([new], after: last)], motion: .fade)
    }
    return RowHandle(new.id)
  }

  /// Removes a message from its group: the avatar leaves it, it fades, the group closes. The last one goes to its sender's side.
  public func removeFromGroup(_ handle: RowHandle, then: (() -> Void)? = nil) {
    if isInTransaction { return change([.remove(handle.id)], motion: .fade, scroll: .automatic, then) }
    enqueue(then) { view in
      let isLast = view.timeline.group(of: handle.id).count == 1
      view.timeline.apply([.remove(handle.id)], motion: isLast ? .slide : .fade)
    }
  }
}

extension Timeline {
  /// All identities, from the oldest to the newest. O(rows).
  public var rowIDs: [RowID] { identities(0..<store.count) }

  private func identities(_ range: Range<Int>) -> [RowID] {
    let ids = range.map { store[$0].row.id }
    return geometry.newestIsFirst ? ids.reversed() : ids
  }

  /// The rows within `reach` of a row, itself included; empty for an unknown one.
  public func neighbours(of id: RowID, reach: Int) -> [RowID] {
    guard let index = store.index(of: id) else { return [] }
    return (max(0, index - reach)..<min(store.count, index + reach + 1)).map { store[$0].row.id }
  }

  /// The rows of a message's group, from the oldest to the newest.
  func group(of id: RowID) -> [RowID] {
    guard let index = store.index(of: id), store[index].author != 0 else { return [] }
    var (first, last) = (index, index)
    while !decor(first).contains(.first) { first -= 1 }
    while !decor(last).contains(.last) { last += 1 }
    return identities(first..<last + 1)
  }
}
