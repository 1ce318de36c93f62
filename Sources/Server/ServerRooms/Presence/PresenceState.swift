import JSON
import MatrixModel

/// How reachable a user is, least first. Spec: Client-Server API, "Presence".
package enum PresenceState: UInt8, Sendable, Comparable {
  case offline, unavailable, online

  /// nil for names outside the spec's set.
  package init?(_ text: ByteString) {
    if text == "online" {
      self = .online
    } else if text == "unavailable" {
      self = .unavailable
    } else if text == "offline" {
      self = .offline
    } else {
      return nil
    }
  }

  package var name: StaticString {
    switch self {
    case .offline: "offline"
    case .unavailable: "unavailable"
    case .online: "online"
    }
  }

  package static func < (left: PresenceState, right: PresenceState) -> Bool { left.rawValue < right.rawValue }
}

/// What others are shown of a user.
package struct PresenceStatus: Sendable, Equatable {
  package var state = PresenceState.offline
  package var statusMessage: ByteString?
  /// Milliseconds since 1970; 0 where it is not known.
  package var lastActive: Int64 = 0
  /// Whether `lastActive` is not told again until this changes.
  package var isCurrentlyActive = false

  /// As the members of an `m.presence` event's content.
  package func writeMembers(to writer: inout JSONWriter, now: Int64) {
    writer.member("presence", String(describing: state.name))
    if lastActive > 0 { writer.member("last_active_ago", max(0, now - lastActive)) }
    if state == .online { writer.member("currently_active", isCurrentlyActive) }
    if let statusMessage { writer.member("status_msg", statusMessage) }
  }

  /// Whether the user's own devices have to be told.
  func hasOtherState(than other: PresenceStatus) -> Bool { state != other.state || statusMessage != other.statusMessage }

  /// Whether others have to be told: the time of the last activity alone is no news.
  func differs(from other: PresenceStatus) -> Bool {
    hasOtherState(than: other) || isCurrentlyActive != other.isCurrentlyActive
  }
}
