import JSON
import MatrixModel

/// What the server knows of one user's presence: their devices, when they last did something, what others were told.
struct PresenceRecord: Sendable {
  struct Device: Sendable {
    var state: PresenceState
    /// Requests that wait for news right now.
    var syncs = 0
    /// Whether it stands for all devices that another node has of the user.
    var isElsewhere = false
    /// Milliseconds since 1970 of the end of the last sync, or of the last change by hand.
    var seenAt: Int64

    fileprivate mutating func began(_ state: PresenceState, at now: Int64) {
      self.state = state
      syncs += 1
      seenAt = now
    }

    fileprivate mutating func ended(at now: Int64) {
      syncs -= 1
      seenAt = now
    }
  }

  /// Without a sync for so long a device is away.
  static let offlineAfterMilliseconds: Int64 = 30_000
  /// A node that says nothing of a user for so long has none of their devices.
  static let elsewhereAfterMilliseconds: Int64 = 60_000
  /// Without activity for so long a user is idle. Spec: "Idle timeout".
  static let idleAfterMilliseconds: Int64 = 5 * 60_000
  /// Activity is not told again within this time (`currently_active`).
  static let activeForMilliseconds: Int64 = 60_000
  /// Devices of one user that are remembered at once; the one seen longest ago goes.
  static let devicesLimit = 50

  private(set) var devices: [DeviceID: Device] = [:]
  var statusMessage: ByteString?
  var lastActive: Int64 = 0
  /// What others were told last.
  var shown = PresenceStatus()
  /// The counter at the last change that the user's own devices are told.
  var ownVersion: Int64 = 0
  /// What other nodes were told last of the devices here.
  var told = PresenceStatus()

  func status(at now: Int64) -> PresenceStatus { status(at: now) { _ in true } }

  /// As the devices of this node have it.
  func statusHere(at now: Int64) -> PresenceStatus { status(at: now) { !$0.isElsewhere } }

  private func status(at now: Int64, of counts: (Device) -> Bool) -> PresenceStatus {
    var state = PresenceState.offline
    for device in devices.values where counts(device) && isThere(device, at: now) { state = max(state, device.state) }
    if state == .online, now - lastActive >= Self.idleAfterMilliseconds { state = .unavailable }
    return PresenceStatus(
      state: state, statusMessage: statusMessage, lastActive: lastActive,
      isCurrentlyActive: state == .online && now - lastActive < Self.activeForMilliseconds)
  }

  /// Changes the record and brings what others are shown up to date. Answers what that was and is.
  mutating func change(
    at now: Int64, _ body: (inout PresenceRecord, _ now: Int64) -> Void
  ) -> (old: PresenceStatus, new: PresenceStatus) {
    body(&self, now)
    let old = shown
    shown = status(at: now)
    return (old, shown)
  }

  mutating func began(_ device: DeviceID, _ state: PresenceState, at now: Int64) {
    // Going online is activity; staying online is not.
    let wasOnline = devices.values.contains { $0.state == .online && isThere($0, at: now) }
    if state == .online, !wasOnline { lastActive = now }
    devices[device, default: Device(state: state, seenAt: now)].began(state, at: now)
    if devices.count > Self.devicesLimit { forgetOldest() }
  }

  /// Another node says how its devices of the user are.
  mutating func heard(_ status: PresenceStatus, from node: DeviceID, at now: Int64) {
    devices[node] = status.state == .offline ? nil : Device(state: status.state, isElsewhere: true, seenAt: now)
    lastActive = max(lastActive, min(status.lastActive, now))
    statusMessage = status.statusMessage
  }

  mutating func ended(_ device: DeviceID, at now: Int64) {
    devices[device]?.ended(at: now)
  }

  mutating func set(_ device: DeviceID, _ state: PresenceState, at now: Int64) {
    var known = devices[device] ?? Device(state: state, seenAt: now)
    known.state = state
    known.seenAt = now
    devices[device] = known
    if state == .online { lastActive = now }
    if devices.count > Self.devicesLimit { forgetOldest() }
  }

  /// Activity makes an idle device an active one; one that is away by its own wish stays so.
  mutating func active(_ device: DeviceID?, at now: Int64) {
    lastActive = now
    guard let device, devices[device]?.state == .unavailable else { return }
    devices[device]?.state = .online
  }

  mutating func forgetAway(at now: Int64) { devices = devices.filter { isThere($0.value, at: now) } }

  private func isThere(_ device: Device, at now: Int64) -> Bool {
    let limit = device.isElsewhere ? Self.elsewhereAfterMilliseconds : Self.offlineAfterMilliseconds
    return device.syncs > 0 || now - device.seenAt < limit
  }

  private mutating func forgetOldest() {
    guard let oldest = devices.filter({ $0.value.syncs <= 0 }).min(by: { $0.value.seenAt < $1.value.seenAt })?.key else {
      return
    }
    devices[oldest] = nil
  }
}
