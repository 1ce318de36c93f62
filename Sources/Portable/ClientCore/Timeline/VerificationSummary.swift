import JSON
import MatrixModel

/// A verification that a user has asked for in a room, as its timeline tells of it. Whether the keys are verified the encryption says, not this.
/// Spec: Client-Server API, "Verification messages in rooms".
public struct VerificationSummary: Sendable, Hashable {
  public enum State: Sendable, Hashable {
    /// Nobody has answered, as far as is known.
    case asked
    case accepted
    case done
    case cancelled
  }

  public internal(set) var state = State.asked
  /// Who is asked.
  public let recipient: UserID?

  public var english: String {
    switch state {
    case .asked: "a verification request"
    case .accepted: "a verification request, accepted"
    case .done: "a verification, done"
    case .cancelled: "a verification, cancelled"
    }
  }
}

/// What an event says about a verification that was asked for.
enum VerificationSign: Sendable {
  case accepted, cancelled, done

  /// nil for what only the devices have to say to each other.
  init?(_ type: EventType) {
    switch type {
    case "m.key.verification.ready": self = .accepted
    case "m.key.verification.cancel": self = .cancelled
    case "m.key.verification.done": self = .done
    default: return nil
    }
  }
}

extension TimelineEvent.Kind {
  /// nil unless the message asks for a verification.
  init?(verification event: Event) {
    guard event.type == .message, event.content["msgtype"]?.isString("m.key.verification.request") ?? false else { return nil }
    self = .item(.verification(VerificationSummary(recipient: UserID(event.content["to"]))), replyTo: nil)
  }
}

extension Relations {
  struct SeenVerification: Sendable {
    let event: EventID
    let sign: VerificationSign
  }

  /// - Parameter signs: in any order.
  static func state(_ signs: [SeenVerification]) -> VerificationSummary.State {
    var state = VerificationSummary.State.asked
    for seen in signs {
      switch seen.sign {
      case .done: return .done
      case .cancelled: state = .cancelled
      case .accepted: if state == .asked { state = .accepted }
      }
    }
    return state
  }
}
