/// Hands out item IDs; 0 is none.
struct ItemIDs: Sendable {
  private var last: ItemID = 0

  mutating func next() -> ItemID {
    last &+= 1
    return last
  }
}
