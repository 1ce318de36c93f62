import JSON
import MatrixModel

/// A call between two, as its room's timeline tells of it. Spec: "Voice over IP".
public struct CallSummary: Sendable, Hashable {
  public enum Outcome: Sendable, Hashable {
    /// It rings or goes on, as far as is known.
    case open
    /// It was answered, and somebody hung up after so long.
    case ended(afterMilliseconds: Int64)
    case declined
    /// The caller hung up before anybody answered.
    case unanswered
  }

  public internal(set) var outcome = Outcome.open
  /// The caller's `call_id`; empty if it is unusable, which leaves the call without further events.
  let id: ByteString

  init(id: ByteString) { self.id = id }

  public var english: String {
    switch outcome {
    case .open: "a call"
    case .ended(let milliseconds): "a call of \(milliseconds / 1_000) seconds"
    case .declined: "a call, declined"
    case .unanswered: "a call, not answered"
    }
  }
}

/// What an event says about a call that was made.
enum CallSign: Sendable {
  case answered, declined, ended

  /// nil for what tells the devices of each other alone.
  init?(_ type: EventType) {
    switch type {
    case "m.call.answer": self = .answered
    case "m.call.reject": self = .declined
    case "m.call.hangup": self = .ended
    default: return nil
    }
  }
}

extension TimelineEvent.Kind {
  /// Of an event of a call one sees that the call was made and how it ended, not how the devices found each other.
  init(call event: Event) {
    var id = event.content.text("call_id") ?? ""
    if id.count > Limits.callIDBytes { id = "" }
    if event.type == .callInvite {
      self = .item(.call(CallSummary(id: id)), replyTo: nil)
    } else {
      self = CallSign(event.type).map { .callSign(id, $0) } ?? .hidden
    }
  }
}

extension Relations {
  /// What is known of one call, whether it is in memory itself or not.
  struct CallSigns: Sendable {
    var invites: [EventID] = []
    var answeredAt: Int64?
    var endedAt: Int64?
    /// Who hung up first.
    var endedBy: UserID?
    var isDeclined = false
  }

  mutating func take(_ sign: CallSign, of call: ByteString, _ event: TimelineEvent) {
    guard mayKnow(call) else { return }
    var signs = calls[call] ?? CallSigns()
    let at = event.timestampMilliseconds
    switch sign {
    case .answered: signs.answeredAt = min(signs.answeredAt ?? at, at)
    case .declined: signs.isDeclined = true
    case .ended:
      if at < signs.endedAt ?? .max { (signs.endedAt, signs.endedBy) = (at, event.sender) }
    }
    calls[call] = signs
    for invite in signs.invites { touch(invite) }
  }

  mutating func take(callMadeBy event: EventID, _ call: ByteString) {
    guard mayKnow(call) else { return }
    var signs = calls[call] ?? CallSigns()
    guard signs.invites.count < Limits.invitesOfCall, !signs.invites.contains(event) else { return }
    signs.invites.append(event)
    calls[call] = signs
  }

  private func mayKnow(_ call: ByteString) -> Bool {
    calls[call] != nil || !call.isEmpty && calls.count < Limits.calls
  }

  /// - Parameter caller: who made it.
  func outcome(of call: ByteString, by caller: UserID) -> CallSummary.Outcome {
    guard let signs = calls[call] else { return .open }
    if let answered = signs.answeredAt {
      return signs.endedAt.map { .ended(afterMilliseconds: max(0, $0 &- answered)) } ?? .open
    }
    guard !signs.isDeclined else { return .declined }
    // Older clients decline by hanging up.
    return signs.endedBy.map { $0 == caller ? .unanswered : .declined } ?? .open
  }
}
