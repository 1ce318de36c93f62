import JSON
import MatrixModel

/// The calls of a room, as its timeline tells them afterwards.
public struct CallHistory: Sendable {
  /// The oldest first; the last one may still go on.
  public private(set) var calls: [PastCall] = []
  private var room = RoomCall()

  public struct PastCall: Sendable, Equatable {
    /// Milliseconds since 1970, by the server that took the first event.
    public let startedAt: Int64
    /// nil while it goes on.
    public fileprivate(set) var endedAt: Int64?
    /// Everybody who was in it, in the order of coming.
    public fileprivate(set) var participants: [UserID]
    /// The event that began it.
    public let eventID: EventID?

    public var durationMilliseconds: Int64? { endedAt.map { max(0, $0 - startedAt) } }
  }

  public init() {}

  /// Takes the next event of the timeline.
  public mutating func take(_ event: Event) {
    guard event.stateKey != nil, event.type == CallMembership.eventType || event.type == .member else { return }
    let time = CallMembership.time(event.originServerTimestamp)
    settle(at: time)
    let wasActive = room.isActive(at: time)
    room.take(event)
    let isActive = room.isActive(at: time)
    if isActive, !wasActive {
      calls.append(PastCall(startedAt: time, endedAt: nil, participants: [], eventID: event.eventID))
      if calls.count > CallLimits.pastCalls { calls.removeFirst() }
    }
    if !isActive, wasActive, !calls.isEmpty { calls[calls.count - 1].endedAt = time }
    if isActive, let user = event.sender, event.type == CallMembership.eventType, !calls.isEmpty,
      !calls[calls.count - 1].participants.contains(user),
      calls[calls.count - 1].participants.count < CallLimits.callMembers
    {
      calls[calls.count - 1].participants.append(user)
    }
  }

  /// A call whose members all went without a word ended when the last of them expired.
  public mutating func settle(at now: Int64) {
    guard let last = calls.last, last.endedAt == nil, !room.isActive(at: now) else { return }
    calls[calls.count - 1].endedAt = min(now, room.lastExpiry() ?? now)
  }
}
