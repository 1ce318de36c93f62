/// Commands that make an identity, and wait for it. What was made is stored with `OwnIdentity`, which goes on after a crash.
struct IdentitySetup: Sendable {
  private enum Wish: Sendable {
    case first, another
  }

  private var wish: Wish?
  private var waiting: [UInt64] = []

  mutating func begin(_ number: UInt64, isReset: Bool) {
    waiting.append(number)
    if isReset || wish == nil { wish = isReset ? .another : .first }
  }

  /// Whether keys are to be made, once it is known whether there are some.
  mutating func takeWish(hasIdentity: Bool) -> Bool {
    defer { wish = nil }
    return wish == .another || wish == .first && !hasIdentity
  }

  /// The commands that end now. One whose keys are still to be made goes on.
  mutating func takeWaiting() -> [UInt64] {
    guard wish == nil else { return [] }
    defer { waiting = [] }
    return waiting
  }
}
