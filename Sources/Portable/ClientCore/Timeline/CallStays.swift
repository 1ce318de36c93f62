import JSON
import MatrixModel

/// Who came into a room's calls and who left them, in any order of arrival: which leaving ended a call.
///
/// Each stay in a call is a span of time. Spans that touch each other are one call, and it has ended where the last of them to end was left.
struct CallStays: Sendable {
  private struct Sign: Sendable {
    let event: EventID
    let user: UserID
    let at: Int64
    /// Whether it says that somebody left, and how long after they came, by their own clock.
    let isLeaving: Bool
    let after: Int64?
  }

  private struct Ended: Sendable {
    let event: EventID
    let call: EndedCall
  }

  private struct Stay {
    let user: UserID
    let from: Int64
    let to: Int64
    /// The leaving; nil where it was not seen.
    let end: EventID?
  }

  /// By time.
  private var signs: [Sign] = []
  /// Few; a dictionary of its own would be 4 KB of the page's program.
  private var calls: [Ended] = []

  /// The call that the event ended.
  func ended(by event: EventID) -> EndedCall? { CallStays.call(event, in: calls) }

  private static func call(_ event: EventID, in calls: [Ended]) -> EndedCall? { calls.first { $0.event == event }?.call }

  /// Takes an event that says that somebody came or left; returns the events that say something else now.
  mutating func take(_ change: StateChange, _ event: TimelineEvent) -> [EventID] {
    let sign: Sign
    let (id, user, at) = (event.eventID, event.sender, event.timestampMilliseconds)
    switch change {
    case .callJoined: sign = Sign(event: id, user: user, at: at, isLeaving: false, after: nil)
    case .callLeft(let after, _): sign = Sign(event: id, user: user, at: at, isLeaving: true, after: after)
    default: return []
    }
    guard signs.count < Limits.callStays, !signs.contains(where: { $0.event == id }) else { return [] }
    signs.insert(sign, at: signs.firstIndex { at < $0.at } ?? signs.count)
    let before = calls
    calls = CallStays.calls(CallStays.stays(signs))
    var changed: [EventID] = []
    for ended in before + calls where CallStays.call(ended.event, in: before) != CallStays.call(ended.event, in: calls) {
      changed.append(ended.event)
    }
    return changed
  }

  /// Who left came when they last did; where that was not seen, when they say. Who was not seen to leave is thought to have stayed for
  /// as long as a membership is good.
  private static func stays(_ signs: [Sign]) -> [Stay] {
    var stays: [Stay] = []
    var open: [Sign] = []
    for sign in signs {
      guard sign.isLeaving else {
        open.append(sign)
        continue
      }
      var from = sign.at &- (sign.after ?? 0)
      if let index = open.lastIndex(where: { $0.user == sign.user }) { from = open.remove(at: index).at }
      // Times are claims: nobody comes after they left.
      stays.append(Stay(user: sign.user, from: min(from, sign.at), to: sign.at, end: sign.event))
    }
    for sign in open {
      let to = max(sign.at, sign.at &+ Limits.callMembershipMilliseconds)
      stays.append(Stay(user: sign.user, from: sign.at, to: to, end: nil))
    }
    return stays.ordered { $0.from < $1.from }
  }

  private static func calls(_ stays: [Stay]) -> [Ended] {
    var calls: [Ended] = []
    var index = 0
    while index < stays.count {
      let first = stays[index]
      var last = first
      var people: [UserID] = []
      while index < stays.count, stays[index].from <= last.to {
        if stays[index].to >= last.to { last = stays[index] }
        if !people.contains(stays[index].user) { people.append(stays[index].user) }
        index += 1
      }
      guard let end = last.end else { continue }
      let duration = max(0, last.to &- first.from)
      calls.append(Ended(event: end, call: EndedCall(durationMilliseconds: duration, participants: people)))
    }
    return calls
  }
}
