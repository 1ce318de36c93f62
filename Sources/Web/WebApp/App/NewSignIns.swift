import JSON
import MatrixModel
import WebHost

/// Own devices that have signed in while this browser was there, as long as the person has not said whether they know them. The browser keeps them.
struct NewSignIns {
  /// Somebody who signs in more often has other worries.
  private static var limit: Int { 10 }

  private(set) var devices: [DeviceID] = []
  let own: DeviceID

  /// - Parameter own: the device of this browser. What was kept by another one is forgotten.
  init(of own: DeviceID) {
    self.own = own
    let lines = ByteString(Host.setting(Settings.newSignIns) ?? "").utf8.split(separator: UInt8(ascii: "\n"))
    guard let first = lines.first, first.elementsEqual(own.text.utf8) else { return }
    devices = lines.dropFirst().compactMap { DeviceID(ByteString(decoding: Array($0))) }
  }

  mutating func add(_ device: DeviceID) {
    guard !devices.contains(device), devices.count < Self.limit, !device.text.utf8.contains(UInt8(ascii: "\n")) else { return }
    devices.append(device)
    keep()
  }

  /// - Returns: whether it was there.
  @discardableResult
  mutating func remove(_ device: DeviceID) -> Bool {
    guard let place = devices.firstIndex(of: device) else { return false }
    devices.remove(at: place)
    keep()
    return true
  }

  private func keep() {
    let lines = [own.string] + devices.map { $0.string }
    Host.setSetting(Settings.newSignIns, devices.isEmpty ? nil : lines.joined(separator: "\n"))
  }
}
