import JSON
import MatrixModel
import ServerCore
import ServerRooms
import Synchronization

/// What sync remembers of one device between its requests; losing it costs reads, never events.
final class DeviceDelivery: Sendable {
  /// The counts of keys that every answer tells, as members of the answer.
  struct KeyCounts: Sendable {
    let readAt: Int64
    let members: [UInt8]
    /// Whether a device of the user has uploaded keys.
    let userHasKeys: Bool
  }

  private struct SentMember {
    /// Of the member event.
    var event: Int64
    /// Of the answer that told it: a device that comes back with a later token has got it.
    var sentAt: Int64
  }

  private struct State {
    var keyCounts: KeyCounts?
    /// The newest message handed out and not yet acknowledged; 0 for none, nil when it is not known.
    var unacknowledged: Int64?
    var members: [RoomNumber: [UserID: SentMember]] = [:]
    var memberCount = 0
  }

  /// Members remembered per device; beyond it all are forgotten and told again.
  private static let membersLimit = 5_000

  /// Up to where answers have told everything; -1 when it is not known.
  private let toldUpTo = Atomic<Int64>(-1)
  private let state = Mutex(State())

  func told(upTo position: Int64) { _ = toldUpTo.max(position, ordering: .relaxed) }

  /// Whether something after `position` was told before, as far as is known.
  func mayHaveBeenTold(after position: Int64) -> Bool {
    let told = toldUpTo.load(ordering: .relaxed)
    return told < 0 || told > position
  }

  /// The counts as they were read last.
  var keyCounts: KeyCounts? { state.withLock { $0.keyCounts } }

  /// The counts, where the user has had no news after `readAt`, `position` being that of the newest.
  func keyCounts(asOf position: Int64) -> KeyCounts? {
    guard let counts = keyCounts, counts.readAt >= position else { return nil }
    return counts
  }

  func remember(_ counts: KeyCounts) {
    state.withLock { if ($0.keyCounts?.readAt ?? -1) < counts.readAt { $0.keyCounts = counts } }
  }

  // MARK: Messages to the device

  /// Whether messages up to `position` may wait for their acknowledgement.
  func mayHaveUnacknowledged(upTo position: Int64) -> Bool {
    state.withLock { state in
      guard let unacknowledged = state.unacknowledged else { return true }
      return unacknowledged > 0 && position > 0
    }
  }

  func handedOut(upTo position: Int64) {
    state.withLock { $0.unacknowledged = max($0.unacknowledged ?? position, position) }
  }

  /// An answer that begins at the first message found none: there is nothing for the next request to acknowledge.
  func foundNone() {
    state.withLock { state in
      if state.unacknowledged == nil { state.unacknowledged = 0 }
    }
  }

  func acknowledged(upTo position: Int64) {
    state.withLock { if ($0.unacknowledged ?? 0) <= position { $0.unacknowledged = 0 } }
  }

  // MARK: Lazily loaded members

  func forgetMembers() {
    state.withLock { state in
      state.members = [:]
      state.memberCount = 0
    }
  }

  /// Those of `members` that the device, which has everything up to `seen`, was not yet told; they count as told at `now`.
  func untold(_ members: [StoredEvent], in room: RoomNumber, seen: Int64, now: Int64) -> [StoredEvent] {
    state.withLock { state in
      var untold: [StoredEvent] = []
      for event in members {
        guard let key = event.stateKey else { continue }
        let user = UserID(trusted: key)
        if let sent = state.members[room]?[user], sent.event == event.position, sent.sentAt <= seen { continue }
        untold.append(event)
        if state.memberCount >= Self.membersLimit {
          state.members = [:]
          state.memberCount = 0
        }
        if state.members[room, default: [:]].updateValue(SentMember(event: event.position, sentAt: now), forKey: user)
          == nil
        {
          state.memberCount += 1
        }
      }
      return untold
    }
  }
}
