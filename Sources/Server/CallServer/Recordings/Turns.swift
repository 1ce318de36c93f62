/// A fair queue: the next owner is the one whose last turn is longest ago, and of an owner's elements the first.
struct Turns<Owner: Hashable & Sendable, Element: Sendable>: Sendable {
  private var waiting: [(owner: Owner, element: Element)] = []
  /// When each of those that wait had its last turn.
  private var lastTurns: [Owner: Int] = [:]
  private var turns = 0
  private var isTaken = false

  /// True where it is its turn at once.
  mutating func begin(_ element: Element, of owner: Owner) -> Bool {
    guard isTaken else {
      take(owner)
      return true
    }
    waiting.append((owner, element))
    return false
  }

  /// A turn is over; whose is the next.
  mutating func end() -> Element? {
    isTaken = false
    let next = waiting.indices.min { (lastTurns[waiting[$0].owner] ?? 0, $0) < (lastTurns[waiting[$1].owner] ?? 0, $1) }
    guard let next else {
      lastTurns = [:]
      return nil
    }
    let (owner, element) = waiting.remove(at: next)
    take(owner)
    return element
  }

  private mutating func take(_ owner: Owner) {
    turns += 1
    lastTurns[owner] = turns
    isTaken = true
  }
}
