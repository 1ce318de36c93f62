import JSON
import MatrixModel
import Olm

/// The devices of one user, and whether the server said that they have changed.
struct UserDevices: Sendable {
  private(set) var devices: [DeviceID: DeviceKeys] = [:]
  /// Devices of the last answer whose keys were not taken, in the order of their IDs.
  private(set) var refused: [DeviceID] = []
  /// Rises each time the server says that the list has changed.
  private(set) var revision: UInt64 = 1
  /// The revision of which the devices are; 0 before the first answer.
  private(set) var known: UInt64 = 0
  /// The revision of the query that is under way.
  private(set) var asked: UInt64?

  init() {}

  /// As it was stored.
  init(_ devices: [DeviceID: DeviceKeys], isOutdated: Bool) {
    self.devices = devices
    known = isOutdated ? 0 : revision
  }

  var isOutdated: Bool { known != revision }

  mutating func markOutdated() { revision &+= 1 }

  mutating func begin() { asked = revision }

  /// Without an answer.
  mutating func giveUp() { asked = nil }

  /// - Parameters:
  ///   - listed: an object of devices, by their IDs; nil if the server has none of the user.
  ///   - selfSigning: the user's key for signing devices.
  /// - Returns: what is new, in the order of the IDs.
  mutating func take(_ listed: JSON?, of user: UserID, selfSigning: Ed25519Key?) -> [DeviceNews] {
    let isFirst = known == 0 && devices.isEmpty
    // What the server said since then is not in this answer.
    known = asked ?? known
    asked = nil
    var (news, kept): ([DeviceNews], [DeviceID: DeviceKeys]) = ([], [:])
    refused = []
    var all: [DeviceID: JSON] = [:]
    for member in listed?.members.map({ $0 }) ?? [] {
      if let device = DeviceID(member.key) { all[device] = member.value }
    }
    for device in all.keys.ordered() {
      guard let json = all[device] else { continue }
      do throws(DeviceRefusal) {
        let keys = try admit(json, of: user, device, selfSigning, beside: kept)
        if let before = devices[device] {
          // A signature by the same key cannot be taken back.
          if keys.signer == nil, let signer = before.signer, signer == selfSigning { news.append(.unsigned(user, device)) }
        } else {
          news.append(isFirst ? .listed(keys) : .appeared(keys))
        }
        kept[device] = keys
      } catch {
        news.append(.refused(user, device, error))
        refused.append(device)
        // The keys that it had before stay its keys.
        if error == .changedKeys { kept[device] = devices[device] }
      }
    }
    // A dehydrated device is replaced every week: nobody has signed out.
    for device in devices.keys.ordered() where kept[device] == nil && devices[device]?.isDehydrated != true {
      news.append(.gone(user, device))
    }
    devices = kept
    return news
  }

  private func admit(
    _ json: JSON, of user: UserID, _ device: DeviceID, _ selfSigning: Ed25519Key?, beside others: [DeviceID: DeviceKeys]
  ) throws(DeviceRefusal) -> DeviceKeys {
    let keys = try DeviceKeys(json, of: user, device, selfSigning: selfSigning)
    if let before = devices[device], !before.hasSameKeys(as: keys) { throw .changedKeys }
    guard !others.values.contains(where: { $0.identity == keys.identity || $0.signing == keys.signing }) else {
      throw .sharedKey
    }
    guard others.count < EncryptionLimits.devicesOfUser else { throw .tooMany }
    return keys
  }
}
