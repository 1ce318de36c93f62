import JSON
import MatrixModel

/// Items follow what events say of them.
extension Timeline {
  /// An event that a reply here answers and that is not among the items.
  enum QuoteSource: Sendable {
    case loading
    indirect case item(TimelineItem)
    case unavailable
  }

  /// Puts items of the server in, with all that is known of them.
  mutating func place(
    _ new: [TimelineItem], at index: Int, ownUserID: UserID, _ changes: inout [TimelineChange]
  ) {
    items.insert(contentsOf: new, at: index)
    remoteCount += new.count
    let range = index..<(index + new.count)
    for i in range { decorate(i, ownUserID: ownUserID) }
    for i in range { link(i, ownUserID: ownUserID) }
    changes.append(.inserted(at: index, Array(items[range])))
    guard !quoting.isEmpty else { return }
    for i in range {
      if let event = items[i].eventID { renewQuotes(of: event, except: range, ownUserID: ownUserID, &changes) }
    }
  }

  /// Events whose news came without an item of theirs: everything is renewed that looks different.
  mutating func takeRelations(of events: [TimelineEvent], ownUserID: UserID) -> [TimelineChange] {
    for event in events { relations.take(event) }
    var changes: [TimelineChange] = []
    renewTouched(ownUserID: ownUserID, &changes)
    return changes
  }

  /// - Parameter fresh: items that were just put in, with everything.
  mutating func renewTouched(
    except fresh: Range<Int> = 0..<0, ownUserID: UserID, _ changes: inout [TimelineChange]
  ) {
    for event in relations.takeTouched().ordered() {
      if let i = index(of: event), !fresh.contains(i) {
        decorate(i, ownUserID: ownUserID)
        changes.append(.updated(at: i, items[i]))
      }
      renewQuotes(of: event, ownUserID: ownUserID, &changes)
    }
  }

  /// What the message has said so far, the first first; the last is what it says now. As far as the edits are in memory.
  public func history(of item: ItemID) -> [MessageVersion] { self.item(item).map { relations.history(of: $0) } ?? [] }

  /// Events that refer to this one (`m.reference`) beyond votes and the like, as far as they are known.
  public func references(to event: EventID) -> [EventID] { relations.about(event)?.references ?? [] }

  // MARK: Replies

  /// Notes what the item answers, and shows it where it is known.
  mutating func link(_ index: Int, ownUserID: UserID) {
    guard let target = items[index].replyTo else { return }
    let id = items[index].id
    if !(quoting[target]?.contains(id) ?? false) { quoting[target, default: []].append(id) }
    items[index].quoted = quote(of: target, ownUserID: ownUserID)
  }

  mutating func renewQuotes(
    of event: EventID, except fresh: Range<Int> = 0..<0, ownUserID: UserID, _ changes: inout [TimelineChange]
  ) {
    guard let replies = quoting[event] else { return }
    for id in replies {
      // What was redacted quotes nothing any more.
      guard let i = index(of: id), items[i].replyTo == event else { continue }
      items[i].quoted = quote(of: event, ownUserID: ownUserID)
      if !fresh.contains(i) { changes.append(.updated(at: i, items[i])) }
    }
  }

  private mutating func quote(of event: EventID, ownUserID: UserID) -> QuotedEvent? {
    if let i = index(of: event) { return .event(sender: items[i].sender, items[i].content) }
    switch quotedElsewhere[event] {
    case .item(let item)? where relations.hides(item): return .unavailable
    case .item(var item)?:
      relations.decorate(&item, ownUserID: ownUserID)
      return .event(sender: item.sender, item.content)
    case .loading?: return .loading
    case .unavailable?: return .unavailable
    case nil: return nil
    }
  }

  mutating func setQuote(_ source: QuoteSource, of event: EventID, ownUserID: UserID) -> [TimelineChange] {
    guard quoting[event] != nil else { return [] }
    quotedElsewhere[event] = source
    var changes: [TimelineChange] = []
    renewQuotes(of: event, ownUserID: ownUserID, &changes)
    return changes
  }
}
