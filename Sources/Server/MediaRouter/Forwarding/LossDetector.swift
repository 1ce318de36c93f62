/// Which packets of a layer are missing, and when to ask for them again. RFC 4585 §6.2.1.
struct LossDetector {
  private struct Missing {
    let sequence: UInt64
    var requests = 0
    var next: MediaTime
  }

  /// What is younger than this may only have been overtaken.
  static let patience = MediaTime.Interval.milliseconds(10)
  /// Between two requests for the same packet.
  static let interval = MediaTime.Interval.milliseconds(80)
  static let requestsLimit = 5
  /// More missing at a time are not asked for one by one: a key frame helps more.
  static let missingLimit = 256

  private var missing: [Missing] = []
  private var highest: UInt64?
  /// Packets were given up since it was last asked.
  private var hasGivenUp = false

  var isEmpty: Bool { missing.isEmpty }
  /// Nothing is missing, nor was given up since it was last asked.
  var isQuiet: Bool { missing.isEmpty && !hasGivenUp }

  mutating func receive(_ sequence: UInt64, now: MediaTime) {
    guard let highest else {
      self.highest = sequence
      return
    }
    guard sequence > highest else {
      if let found = missing.firstIndex(where: { $0.sequence == sequence }) { missing.remove(at: found) }
      return
    }
    self.highest = sequence
    guard sequence > highest + 1 else { return }
    guard sequence - highest <= Self.missingLimit, missing.count + Int(sequence - highest) <= Self.missingLimit else {
      missing = []
      hasGivenUp = true
      return
    }
    for lost in (highest + 1)..<sequence { missing.append(Missing(sequence: lost, next: now + Self.patience)) }
  }

  /// The packets to ask for now, in order.
  mutating func requests(now: MediaTime) -> [UInt64] {
    guard !missing.isEmpty else { return [] }
    var due: [UInt64] = []
    for i in missing.indices where missing[i].next <= now {
      missing[i].requests += 1
      missing[i].next = now + Self.interval
      if missing[i].requests <= Self.requestsLimit { due.append(missing[i].sequence) } else { hasGivenUp = true }
    }
    missing.removeAll { $0.requests > Self.requestsLimit }
    return due
  }

  /// Whether something was lost for good since the last call.
  mutating func takeGivenUp() -> Bool {
    defer { hasGivenUp = false }
    return hasGivenUp
  }
}

extension [NackPair] {
  /// Ascending sequence numbers, each pair for up to 17 of them.
  init(_ sequences: [UInt64]) {
    self = []
    var first: UInt64 = 0
    for sequence in sequences {
      let number = UInt16(truncatingIfNeeded: sequence)
      if !isEmpty, sequence - first <= 16, sequence > first {
        self[count - 1].following |= 1 << UInt16(sequence - first - 1)
      } else {
        append(NackPair(first: number, following: 0))
        first = sequence
      }
    }
  }
}

extension NackPair {
  /// Calls `body` with each number it stands for.
  func forEach(_ body: (UInt16) -> Void) {
    body(first)
    for bit in 0..<16 as Range<UInt16> where following & 1 << bit != 0 { body(first &+ bit &+ 1) }
  }
}
