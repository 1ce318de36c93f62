import ClientCore
import JSON
import MatrixModel
import Messenger

/// The client counts places, the messenger knows identities: `items` is the bridge.
extension RoomScreen {
  func take(_ change: TimelineChange, _ state: Room) {
    switch change {
    case .inserted(let index, let new): insert(new, at: index, state)
    case .updated(let index, let item):
      guard items.indices.contains(index) else { return }
      pending.append(.update(rows.row(item, in: state, unread: unread[index])))
      if case .failed(let error) = item.delivery { app.notices.show(Strings.words(for: error), isTrouble: true) }
    case .removed(let range):
      guard range.upperBound <= items.count else { return }
      for id in items[range] { pending.append(.remove(RowID(id))) }
      items.removeSubrange(range)
      unread.removeSubrange(range)
    case .reset: break
    }
  }

  private func insert(_ new: [TimelineItem], at index: Int, _ state: Room) {
    guard index <= items.count else { return }
    let made = new.map { rows.row($0, in: state, unread: 0) }
    if index == items.count {
      pending.append(.append(made))
    } else if index == 0 {
      pending.append(.prepend(made))
    } else {
      pending.append(.insert(made, before: RowID(items[index])))
    }
    items.insert(contentsOf: new.map { $0.id }, at: index)
    unread.insert(contentsOf: [Int](repeating: 0, count: new.count), at: index)
  }

  /// Rows whose number of members that have not read them is different now.
  func updateCounts(_ id: RoomID, _ state: Room) {
    let counts = app.client.unreadMemberCounts(id)
    let all = state.timeline.items
    guard counts.count == items.count, all.count == items.count else { return }
    for index in counts.indices where counts[index] != unread[index] {
      unread[index] = counts[index]
      pending.append(.update(rows.row(all[index], in: state, unread: counts[index])))
    }
  }
}
