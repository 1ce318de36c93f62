import MatrixModel
import Olm

/// Devices that one-time keys are asked for: to begin sessions with them.
struct Claims: Sendable {
  typealias Device = OutboundRoom.Holder

  /// A device that had no key is asked for again after so long, then after twice as long each time.
  static let firstPauseMilliseconds: Int64 = 60 * 1_000, longestPauseMilliseconds: Int64 = 60 * 60 * 1_000
  static let devicesOfRequest = 1_000

  private struct Pause: Sendable {
    let until: Int64
    let length: Int64
  }

  private var wanted: [Device: DeviceKeys] = [:]
  /// Since when they are asked for.
  private var open: [Device: Int64] = [:]
  private var pauses: [Device: Pause] = [:]
  /// Devices that are told of the new session by `m.dummy`: their messages could not be opened.
  private var repaired: Set<Device> = []

  // MARK: Wanting

  /// Unless it had no key a short while ago.
  mutating func want(_ device: DeviceKeys, at now: Int64) {
    let id = Device(device)
    guard open[id] == nil, (pauses[id]?.until ?? now) <= now else { return }
    wanted[id] = device
  }

  /// Whatever there was before: its messages cannot be opened.
  mutating func repair(_ device: DeviceKeys) {
    guard open[Device(device)] == nil else { return }
    wanted[Device(device)] = device
    repaired.insert(Device(device))
  }

  /// Whether there may be a key soon.
  func isAwaited(_ device: DeviceKeys, at now: Int64) -> Bool {
    if let since = open[Device(device)] { return now - since < RoomWriting.patienceMilliseconds }
    return wanted[Device(device)] != nil
  }

  /// When the first that is asked for is not waited for any more.
  func nextDeadline(at now: Int64) -> Int64? {
    open.values.map { $0 + RoomWriting.patienceMilliseconds }.filter { $0 > now }.min()
  }

  // MARK: Asking

  var isEmpty: Bool { wanted.isEmpty }

  /// The devices of the next request.
  mutating func next(at now: Int64) -> [DeviceKeys] {
    let ids = Array(wanted.keys.prefix(Self.devicesOfRequest))
    var devices: [DeviceKeys] = []
    for id in ids {
      if let device = wanted.removeValue(forKey: id) { devices.append(device) }
      open[id] = now
    }
    return devices
  }

  /// - Returns: whether the device is to be told of its session.
  mutating func answered(_ device: DeviceKeys) -> Bool {
    open[Device(device)] = nil
    pauses[Device(device)] = nil
    return repaired.remove(Device(device)) != nil
  }

  mutating func hadNoKey(_ device: DeviceKeys, at now: Int64) {
    let id = Device(device)
    open[id] = nil
    repaired.remove(id)
    let length = min(pauses[id].map { $0.length * 2 } ?? Self.firstPauseMilliseconds, Self.longestPauseMilliseconds)
    pauses[id] = Pause(until: now + length, length: length)
  }

  /// There was no answer.
  mutating func failed(_ device: DeviceKeys) {
    wanted[Device(device)] = device
    open[Device(device)] = nil
  }
}
