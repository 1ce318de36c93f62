import JSON
import MatrixModel

/// How far each member has read. A member who writes has read everything before that message.
extension Timeline {
  /// Items whose count is now different; nil where nothing changed. A position never moves back.
  @discardableResult
  mutating func hasRead(_ user: UserID, _ item: ItemID) -> Range<Int>? {
    guard let new = index(of: item) else { return nil }
    var first = 0
    if let position = readPositions[user], let old = index(of: position) {
      guard old < new else { return nil }
      items[old].readerCount -= 1
      readers[position]?.remove(user)
      first = old + 1
    }
    readPositions[user] = item
    readers[item, default: []].insert(user)
    items[new].readerCount += 1
    return first..<(new + 1)
  }

  /// The member is gone and counts no more.
  mutating func forgetReader(_ user: UserID) -> Range<Int>? {
    guard let position = readPositions.removeValue(forKey: user), let i = index(of: position) else { return nil }
    items[i].readerCount -= 1
    readers[position]?.remove(user)
    return 0..<(i + 1)
  }

  /// After items have come in front: places for those whose position was not in memory. Who has left counts as nobody.
  /// O(items + receipts).
  mutating func placeReaders(_ state: RoomState) {
    placeReaders(state.receipts) { state.isIn($0) }
  }

  /// The same after `count` items have come before all others. O(new items + receipts).
  mutating func placeReaders(inFront count: Int, _ state: RoomState) {
    // Who has a place already has read further than these.
    var places: [UserID: Int] = [:]
    for i in 0..<min(count, remoteCount) where readPositions[items[i].sender] == nil {
      if case .gap = items[i].content { continue }
      places[items[i].sender] = i
    }
    for (user, receipts) in state.receipts where readPositions[user] == nil {
      for receipt in receipts {
        guard let item = itemOfEvent[receipt.event], let i = index(of: item), i < count else { continue }
        if i >= places[user] ?? 0 { places[user] = i }
      }
    }
    for (user, i) in places where state.isIn(user) { place(user, i) }
  }

  private mutating func place(_ user: UserID, _ index: Int) {
    let item = items[index].id
    readPositions[user] = item
    readers[item, default: []].insert(user)
    items[index].readerCount += 1
  }

  mutating func placeReaders(_ receipts: [UserID: [ReadReceipt]], ifIn isIn: (UserID) -> Bool) {
    var indices: [ItemID: Int] = [:]
    indices.reserveCapacity(items.count)
    for i in items.indices { indices[items[i].id] = i }
    var places: [UserID: Int] = [:]
    for i in 0..<remoteCount {
      if case .gap = items[i].content { continue }
      places[items[i].sender] = i
    }
    for (user, receipts) in receipts {
      for receipt in receipts {
        guard let item = itemOfEvent[receipt.event], let i = indices[item] else { continue }
        if i >= places[user] ?? 0 { places[user] = i }
      }
    }
    for (user, item) in readPositions {
      guard let i = indices[item] else { continue }
      if i >= places[user] ?? 0 { places[user] = i }
    }
    for i in items.indices { items[i].readerCount = 0 }
    readPositions = [:]
    readers = [:]
    for (user, i) in places where isIn(user) { place(user, i) }
  }

  /// Members who have read up to this item and no further, in user ID order, its sender among them. O(readers).
  public func readers(at item: ItemID) -> [UserID] { readers[item]?.ordered() ?? [] }

  /// Those at which somebody's reading stands.
  public var itemsWithReaders: [ItemID] { readers.compactMap { $0.value.isEmpty ? nil : $0.key } }

  /// Readers of the item, its sender included. O(items behind it).
  func readerCount(at index: Int) -> Int {
    guard index >= 0, index < remoteCount else { return 0 }
    return items[index..<remoteCount].reduce(0) { $0 + $1.readerCount }
  }
}

extension RoomState {
  /// Members that are not known count as there.
  fileprivate func isIn(_ user: UserID) -> Bool { members[user].map { $0.membership == .join } ?? true }
}
