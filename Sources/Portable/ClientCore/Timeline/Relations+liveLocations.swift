import JSON
import MatrixModel

/// Live locations. MSC3489.
extension Relations {
  /// A beginning or an end of somebody's sharing.
  struct Share: Sendable {
    let event: EventID
    let timestampMilliseconds: Int64
  }

  /// Whatever comes next from the same person ends a share.
  mutating func addShare(_ event: TimelineEvent) {
    let known = shares[event.sender] ?? []
    guard !known.contains(where: { $0.event == event.eventID }) else { return }
    for share in known { touch(share.event) }
    touch(event.eventID)
    let new = Share(event: event.eventID, timestampMilliseconds: event.timestampMilliseconds)
    let all = (known + [new]).ordered { ($0.timestampMilliseconds, $0.event) < ($1.timestampMilliseconds, $1.event) }
    shares[event.sender] = Array(all.suffix(Limits.liveLocationShares))
  }

  /// Only the person who shares says where they are. Who that is may come later: positions are kept by sender.
  mutating func add(_ position: LiveLocation.Position, by sender: UserID, to target: EventID) {
    var position = position
    position.sender = sender
    change(target) { about in
      let all = (about.positions + [position]).ordered {
        ($0.timestampMilliseconds, $0.event) < ($1.timestampMilliseconds, $1.event)
      }
      about.positions = Array(all.suffix(Limits.liveLocationPositions))
    }
  }

  mutating func follow(_ share: inout LiveLocation, _ id: EventID, by sender: UserID) {
    share.position = about(id)?.positions.last {
      $0.sender == sender && $0.timestampMilliseconds <= share.expiresAtMilliseconds
    }
    let own = shares[sender] ?? []
    let isLast = own.last.map { $0.event == id } ?? true
    share.isLive = isLast && now < share.expiresAtMilliseconds
    expiries[id] = share.isLive ? share.expiresAtMilliseconds : nil
  }

  /// Shares whose time is over look different now.
  mutating func expire() {
    for (event, end) in expiries where end <= now { touch(event) }
  }
}
