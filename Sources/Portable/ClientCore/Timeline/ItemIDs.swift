/// Hands out item IDs. It never hands out 0, which means no item.
struct ItemIDs: Sendable {
  private var last: ItemID = 0

  mutating func next() -> ItemID {
    last &+= 1
    return last
  }
}
