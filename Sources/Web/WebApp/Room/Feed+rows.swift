import ClientCore
import JSON
import MatrixModel
import MessageRows
import Messenger
import PageWidgets
import PageWords

/// A step of rows that are made when all steps are in: only then are items and places those that the client has.
enum RowStep {
  case insert([RowID], before: RowID?, at: Int)
  case update(RowID, at: Int)
  case remove(RowID)
}

/// From steps of the client's timeline to steps of rows.
extension Feed {
  func take(_ change: TimelineChange) {
    switch change {
    case .inserted(let index, let new):
      guard index <= folding.count else { return }
      rebuild(index..<index, by: new.count) { $0.insert(new, at: index) }
    case .updated(let index, let item):
      guard index < folding.count else { return }
      rebuild(index..<index + 1, by: 0) { $0.update(item, at: index) }
      if case .failed(let error) = item.delivery { app.notices.show(Strings.words(for: error), isTrouble: true) }
    case .removed(let range):
      guard range.upperBound <= folding.count else { return }
      rebuild(range, by: -range.count) { $0.remove(range) }
    case .reset: break
    }
  }

  func toggleFold(_ row: RowID) {
    guard let index = source?.index(of: Folding.item(of: row)), index < folding.count else { return }
    rebuild(index..<index + 1, by: 0) { $0.toggle(Folding.item(of: row)) }
    settle()
    dom.flush()
  }

  /// Carries out a change of the items in `range`, and of the rows that it touches.
  private func rebuild(_ range: Range<Int>, by growth: Int, _ body: (inout Folding) -> Void) {
    let region = folding.region(around: range)
    let old = folding.pieces(region)
    body(&folding)
    let newRegion = region.lowerBound..<region.upperBound + growth
    let new = folding.pieces(newRegion)
    var head = 0
    while head < min(old.count, new.count), old[head].row == new[head].row { head += 1 }
    var tail = 0
    while tail < min(old.count, new.count) - head, old[old.count - 1 - tail].row == new[new.count - 1 - tail].row { tail += 1 }
    for piece in old[head..<old.count - tail] { steps.append(.remove(piece.row)) }
    let changed = range.lowerBound..<range.upperBound + growth
    for (position, piece) in new.enumerated() where position < head || position >= new.count - tail {
      let before = old[position < head ? position : position - new.count + old.count]
      if piece.range.overlaps(changed) || piece.range.count != before.range.count || piece.isOpen != before.isOpen {
        steps.append(.update(piece.row, at: piece.range.lowerBound))
      }
    }
    let made = new[head..<new.count - tail]
    guard let first = made.first else { return }
    let next =
      tail > 0 ? new[new.count - tail].row : folding.firstRow(from: newRegion.upperBound)
    steps.append(.insert(made.map { $0.row }, before: next, at: first.range.lowerBound))
  }

  /// What the steps are for the messenger, now that all are in.
  func takeSteps(_ room: Room, _ all: [TimelineItem]) -> [RowChange] {
    var changes: [RowChange] = []
    for step in steps {
      switch step {
      case .remove(let row): changes.append(.remove(row))
      case .update(let row, let index):
        if let made = make(row, near: index, all, room) { changes.append(.update(made)) }
        // The user's own new message is in view before it has an event, so no scrolling loads its preview.
        if index < all.count, all[index].sender == app.userID { loadPreviews(all[index...index]) }
      case .insert(let rows, let before, let index):
        var made: [TimelineRow] = []
        for row in rows {
          if let row = make(row, near: index + made.count, all, room) { made.append(row) }
        }
        changes.append(before.map { .insert(made, before: $0) } ?? .append(made))
      }
    }
    steps = []
    return changes
  }

  // MARK: Making

  func makeAll(_ all: [TimelineItem], _ room: Room) -> [TimelineRow] {
    folding.pieces(0..<folding.count).map { make($0, all, room) }
  }

  /// nil where a later step has taken it away.
  private func make(_ row: RowID, near place: Int, _ all: [TimelineItem], _ room: Room) -> TimelineRow? {
    if Folding.isNote(row) { return folding.note(row).map { self.row($0, in: room) } }
    let id = Folding.item(of: row)
    let isThere = place < folding.count && folding[place].id == id
    guard let index = isThere ? place : source?.index(of: id), index < folding.count else { return nil }
    let piece = folding.pieces(around: index).first { $0.row == row }
    return piece.map { make($0, all, room) }
  }

  private func make(_ piece: Folding.Piece, _ all: [TimelineItem], _ room: Room) -> TimelineRow {
    if !piece.notes.isEmpty { return row(piece, in: room) }
    let item = all[piece.range.lowerBound]
    if case .undecryptable(.waiting) = item.content { awaitKey(of: item) }
    if let isOpen = piece.isOpen {
      return TimelineRow(
        id: piece.row, timestampMilliseconds: item.timestampMilliseconds,
        content: .fold(rows.summary(all[piece.range], room), isOpen: isOpen))
    }
    let entry = folding[piece.range.lowerBound]
    var row = rows.row(item, in: room, unread: entry.unread, readers: entry.readers, isFromBefore: entry.isFromBefore)
    row.id = piece.row
    if piece.range.lowerBound <= delivered, case .message(var message) = row.content, message.receipt == .sent {
      message.receipt = .delivered
      row.content = .message(message)
    }
    return row
  }

  /// The row of an item looks different.
  func renew(_ index: Int) {
    for piece in folding.pieces(around: index) where piece.range.contains(index) {
      steps.append(.update(piece.row, at: piece.range.lowerBound))
    }
  }

  /// The row of that item, wherever it is by now.
  func renew(item: ItemID) {
    guard let all = source?.items, all.count == folding.count, let index = all.lastIndex(where: { $0.id == item }) else {
      return
    }
    renew(index)
    settle()
    dom.flush()
  }

  // MARK: Readers

  /// Rows whose readers are different now.
  func updateCounts(_ room: Room) {
    guard let source, source.items.count == folding.count else { return }
    let counts = app.client.unreadMemberCounts(room.id)
    let hasOtherMembers = memberCount != room.joinedMemberCount
    memberCount = room.joinedMemberCount
    for (index, item) in source.items.enumerated() {
      guard counts[index] != folding[index].unread || hasOtherMembers && item.sender == app.userID else { continue }
      folding.setUnread(counts[index], at: index)
      renew(index)
    }
    let reached = app.client.lastDelivered(in: room.id) ?? -1
    if reached > delivered {
      let old = delivered
      delivered = reached
      for index in (old + 1)...reached where source.items[index].sender == app.userID { renew(index) }
    }
    let now = currentReaders(room, source)
    for id in standing {
      guard let index = source.index(of: id), !now.contains(where: { $0.index == index }) else { continue }
      folding.setReaders([], at: index)
      renew(index)
    }
    for (index, users) in now where folding[index].readers != users {
      folding.setReaders(users, at: index)
      renew(index)
    }
    standing = now.map { folding[$0.index].id }
  }

  /// Something was said in a thread, or read there.
  func unreadChanged() {
    guard let room, let source, source.items.count == folding.count else { return }
    let now = Array(room.unreadCounts.threads.keys)
    for root in now + unreadThreads where !now.contains(root) || !unreadThreads.contains(root) {
      if let index = source.index(of: root) { renew(index) }
    }
    unreadThreads = now
  }

  /// Who has read the newest own message. Elsewhere no readers are shown: it would say the same of message after message.
  func currentReaders(_ room: Room, _ source: ClientCore.Timeline) -> [(index: Int, users: [UserID])] {
    guard !room.isDirect, room.joinedMemberCount <= RowMaker<D>.readersLimit,
      let index = source.items.suffix(Self.ownLimit).lastIndex(where: { $0.sender == app.userID && $0.isMessage }),
      index < folding.count, !folding[index].isHidden
    else { return [] }
    var users: [UserID] = []
    for id in source.itemsWithReaders {
      if let place = source.index(of: id), place >= index { users += source.readers(at: id).filter { $0 != app.userID } }
    }
    return users.isEmpty ? [] : [(index, users)]
  }

  /// Items that are looked through for the newest own message.
  private static var ownLimit: Int { 500 }

  // MARK: What is seen

  func viewed(_ visible: VisibleRows) {
    guard let key, seeking == nil else { return }
    if key.focus == .live { app.ask(.reading(.viewed(key.room, upTo: folding.lastItem(of: visible.last)))) }
    if case .thread = key.focus, visible.isAtEnd { onThreadSeen?() }
    loadMore(visible, key)
  }

  /// What the replies in view answer and links in them lead to, where it is not known yet.
  private func loadMore(_ visible: VisibleRows, _ key: TimelineKey) {
    guard let source, let first = source.index(of: folding.item(at: visible.first)),
      let last = source.index(of: folding.item(at: visible.last)), first <= last
    else { return }
    let seen = source.items[first...last]
    for item in seen where item.replyTo != nil && item.quoted == nil { app.ask(.timeline(.loadReply(key, item.id))) }
    loadPreviews(seen)
  }
}
