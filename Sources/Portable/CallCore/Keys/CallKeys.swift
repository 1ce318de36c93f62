import JSON
import MatrixModel

/// The keys of an encrypted call of a room, as one device in it sees them: what it encrypts with, which devices have that key, and whose keys it
/// takes. A state machine without I/O: the host hands in what happens and carries out what comes back.
///
/// The first key is made with the call, and each device that comes gets the present one. When devices leave, another key is made a little later,
/// once for all that leave meanwhile, and it is used once the others have had time to get it (`CallLimits.keyChangeMilliseconds`).
package struct CallKeys: Sendable {
  package enum Effect: Sendable {
    /// Encrypt it for each of these devices and send it. Answer with `sent` of the same number.
    case send(CallKey, to: [CallDeviceName], number: UInt64)
    /// What is sent from now on is encrypted with it.
    case use(CallKey)
    /// What comes from that device may be encrypted with it.
    case take(CallKey, from: CallDeviceName)
    /// Nothing of that device is decrypted any more.
    case forget(CallDeviceName)
  }

  private struct Member {
    let device: CallDeviceName
    /// A device that comes anew has nothing of what it had.
    let createdAt: Int64
    /// Indices of keys that it has, and that are on their way to it.
    var has: [UInt8] = []
    var awaits: [UInt8] = []
    /// When it is tried again, after it could not be sent a key.
    var retryAt: Int64?
  }

  private struct Sending {
    let number: UInt64
    let index: UInt8
    let to: [(device: CallDeviceName, createdAt: Int64)]
  }

  private let room: RoomID
  private let own: CallDeviceName
  /// Makes 32 random bytes, in base64.
  private let makeSecret: @Sendable () -> ByteString
  /// What is encrypted with now, and what will be.
  private var present: CallKey
  private var next: CallKey?
  private var members: [Member] = []
  private var gone: [CallDeviceName] = []
  /// Keys that came before their device was seen in the call.
  private var early: [(device: CallDeviceName, key: CallKey)] = []
  private var sendings: [Sending] = []
  private var lastNumber: UInt64 = 0
  private var changesAt: Int64?
  private var usesNextAt: Int64?
  private var effects: [Effect]

  /// - Parameter makeSecret: 32 random bytes of the system's, in base64.
  package init(room: RoomID, own: CallDeviceName, makeSecret: @escaping @Sendable () -> ByteString) {
    self.room = room
    self.own = own
    self.makeSecret = makeSecret
    present = CallKey(index: 0, secret: makeSecret())
    effects = [.use(present)]
  }

  // MARK: Inputs

  /// - Parameters:
  ///   - list: the call's memberships of people who have joined the room, all of them.
  ///   - now: milliseconds of a clock that does not go back, as of all inputs.
  package mutating func changed(_ list: [CallMembership], now: Int64) -> [Effect] {
    var here: [Member] = []
    for membership in list.prefix(CallLimits.callMembers) {
      let device = CallDeviceName(membership)
      guard device != own, !here.contains(where: { $0.device == device }) else { continue }
      let known = members.first { $0.device == device }
      if let known, known.createdAt == membership.createdAt {
        here.append(known)
      } else {
        here.append(Member(device: device, createdAt: membership.createdAt))
        if known == nil { come(device) }
      }
    }
    for member in members where !here.contains(where: { $0.device == member.device }) {
      gone.append(member.device)
      changesAt = changesAt ?? now + CallLimits.keyChangeMilliseconds
    }
    members = here
    return advance(now: now)
  }

  /// - Parameters:
  ///   - content: of a `CallKey.eventType`.
  ///   - device: the one that has encrypted it, which was proven.
  package mutating func received(_ content: JSON, from device: CallDeviceName, now: Int64) -> [Effect] {
    guard device != own, let key = CallKey(content, of: room, from: device) else { return [] }
    if members.contains(where: { $0.device == device }) {
      effects.append(.take(key, from: device))
    } else {
      keep(key, of: device)
    }
    return advance(now: now)
  }

  /// - Parameter devices: those that it was sent to.
  package mutating func sent(_ number: UInt64, to devices: [CallDeviceName], now: Int64) -> [Effect] {
    guard let place = sendings.firstIndex(where: { $0.number == number }) else { return [] }
    let sending = sendings.remove(at: place)
    for (device, createdAt) in sending.to {
      guard let i = members.firstIndex(where: { $0.device == device && $0.createdAt == createdAt }) else { continue }
      members[i].awaits.removeAll { $0 == sending.index }
      if devices.contains(device) {
        members[i].has = members[i].has.suffix(1) + [sending.index]
      } else {
        members[i].retryAt = now + CallLimits.keyRetryMilliseconds
      }
    }
    return advance(now: now)
  }

  /// It is `nextTime`, or the call begins.
  package mutating func advance(now: Int64) -> [Effect] {
    if let at = usesNextAt, at <= now, let key = next {
      (present, next, usesNextAt) = (key, nil, nil)
      effects.append(.use(key))
    }
    if let at = changesAt, at <= now, next == nil { change(now: now) }
    for key in [present] + (next.map { [$0] } ?? []) { send(key, now: now) }
    defer { effects = [] }
    return effects
  }

  /// When `advance` has something to do; nil for never.
  package var nextTime: Int64? {
    var time = usesNextAt ?? changesAt
    for member in members { time = earlier(time, member.retryAt) }
    return time
  }

  // MARK: What others have

  private mutating func change(now: Int64) {
    changesAt = nil
    for device in gone where !members.contains(where: { $0.device == device }) { effects.append(.forget(device)) }
    gone = []
    next = CallKey(index: present.index &+ 1, secret: makeSecret())
    usesNextAt = now + CallLimits.keyUseMilliseconds
  }

  private mutating func send(_ key: CallKey, now: Int64) {
    var to: [(device: CallDeviceName, createdAt: Int64)] = []
    for i in members.indices where !members[i].has.contains(key.index) && !members[i].awaits.contains(key.index) {
      if let at = members[i].retryAt, at > now { continue }
      members[i].retryAt = nil
      members[i].awaits.append(key.index)
      to.append((members[i].device, members[i].createdAt))
    }
    guard !to.isEmpty else { return }
    lastNumber += 1
    sendings.append(Sending(number: lastNumber, index: key.index, to: to))
    effects.append(.send(key, to: to.map { $0.device }, number: lastNumber))
  }

  // MARK: What is had of others

  private mutating func come(_ device: CallDeviceName) {
    gone.removeAll { $0 == device }
    for entry in early where entry.device == device { effects.append(.take(entry.key, from: device)) }
    early.removeAll { $0.device == device }
  }

  private mutating func keep(_ key: CallKey, of device: CallDeviceName) {
    early.removeAll { $0.device == device && $0.key.index == key.index }
    let ofOne = early.indices.filter { early[$0].device == device }
    if ofOne.count >= CallLimits.earlyKeysOfDevice, let oldest = ofOne.first { early.remove(at: oldest) }
    if early.count < CallLimits.earlyKeys { early.append((device, key)) }
  }
}
