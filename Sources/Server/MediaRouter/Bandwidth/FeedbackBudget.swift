/// Of how many packets a peer's feedback may tell: of no more than went to it. A few bytes of feedback claim thousands.
///
/// A receiver that sees packets overtake each other begins its next report with the late one, and so tells of some again.
struct FeedbackBudget {
  /// How often a packet may be told of: receivers go back half a second at most, and tell each 50 ms.
  static let tellings = 16
  /// What is kept for a peer that is silent for long: of older packets nothing is known any more.
  static let limit = tellings * SentPackets.entriesLimit

  private(set) var left = 0

  /// A packet went to the peer.
  mutating func fill() { left = min(Self.limit, left + Self.tellings) }

  /// So many packets were told of.
  mutating func take(_ count: Int) { left = max(0, left - count) }
}
