/// Something that is away now and then: tells once that it is, after some patience, and once that it is back.
struct Outage {
  enum Change { case began, ended }

  private let patienceNanoseconds: UInt64
  /// When it was found to be away first; nil while it is there.
  private var since: UInt64?
  private var isTold = false

  init(patienceNanoseconds: UInt64) { self.patienceNanoseconds = patienceNanoseconds }

  /// - Parameter now: of a clock that only goes forward, in nanoseconds.
  mutating func note(isAway: Bool, at now: UInt64) -> Change? {
    guard isAway else {
      defer { (since, isTold) = (nil, false) }
      return isTold ? .ended : nil
    }
    let began = since ?? now
    since = began
    guard !isTold, now - began >= patienceNanoseconds else { return nil }
    isTold = true
    return .began
  }
}
