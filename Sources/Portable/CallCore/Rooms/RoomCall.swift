import JSON
import MatrixModel

/// Who is in a room's call, by its state.
public struct RoomCall: Sendable {
  /// As they were told; some may have expired.
  private var known: [CallMembership] = []

  public init() {}

  /// Takes a state event of `CallMembership.eventType`, and memberships of the room for who left it. The server's latest counts, so they come
  /// in its order.
  public mutating func take(_ event: Event) {
    if event.type == .member {
      let isHere = event.content["membership"]?.isString("join") ?? false
      if !isHere, let key = event.stateKey { known.removeAll { $0.user.text == key } }
      return
    }
    guard event.type == CallMembership.eventType, let key = event.stateKey else { return }
    known.removeAll { $0.stateKey == key }
    guard let membership = CallMembership(event), known.count < CallLimits.callMembers else { return }
    known.removeAll { $0.user == membership.user && $0.device == membership.device }
    known.append(membership)
  }

  /// Those in the call, who came first first.
  public func members(at now: Int64) -> [CallMembership] {
    known.filter { $0.expiresAt > now }.ordered {
      $0.createdAt == $1.createdAt ? $0.stateKey < $1.stateKey : $0.createdAt < $1.createdAt
    }
  }

  public func isActive(at now: Int64) -> Bool { known.contains { $0.expiresAt > now } }

  /// When somebody's membership ends next without a word.
  public func nextExpiry(after now: Int64) -> Int64? {
    var next: Int64?
    for member in known where member.expiresAt > now { next = earlier(next, member.expiresAt) }
    return next
  }

  /// Where all meet: what the oldest member likes best, of that kind.
  public func transport(at now: Int64, type: ByteString = CallTransport.ownType) -> CallTransport? {
    members(at: now).first?.transports.first { $0.type == type }
  }
}
