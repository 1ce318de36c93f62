import JSON
import MatrixModel
import Olm

/// Keys of rooms for a device that could not open the messages with them, such as when a server has given one of its one-time keys to two devices. It
/// begins a session with this device by `m.dummy`. It gets nothing that it was not given before.
extension EncryptionMachine {
  /// The sessions in use whose keys the device was given; none if that was so within the last hour.
  mutating func keysLost(by device: DeviceKeys, at now: Int64) -> [RoomKeys.Name] {
    let holder = OutboundRoom.Holder(device)
    let lost = outbound.values.filter { $0.holders[holder] != nil }.ordered { $0.createdAt > $1.createdAt }
    guard !lost.isEmpty, lostKeys.mayGive(to: holder, at: now) else { return [] }
    return lost.prefix(LostKeys.sessions).map { RoomKeys.Name($0.room, $0.id) }
  }

  /// The session's keys and the sessions with the device are loaded.
  mutating func giveAgain(_ name: RoomKeys.Name, to device: DeviceKeys) {
    let own = RoomKey.Origin.proven(RoomKey.Owner(self.own))
    guard let session = outbound[name.room], session.id == name.session,
      let key = roomKeys.keys(of: name).first(where: { $0.origin == own }),
      let content = session.shareAgain(with: device, knowing: key),
      let encrypted = encrypted("m.room_key", content, for: device)
    else { return }
    send("m.room.encrypted", [ToDeviceRequest.Message(device, encrypted)], keysOf: name.room)
  }
}

/// Which devices were given keys again and when, and whose lists were asked for because of messages that nothing opens. Whatever a device sends, it gets
/// each key at most once an hour.
struct LostKeys: Sendable {
  /// Sessions whose keys are given again at once, the newest; devices that are remembered.
  static let sessions = 50, devices = 1_000

  private var given: [OutboundRoom.Holder: Int64] = [:]
  /// Users who were not followed before. A list that is followed is a record.
  private var asked: Set<UserID> = []

  /// Whether to ask for the devices of somebody who shares no encrypted room with the user as far as is known.
  mutating func mayAsk(about user: UserID) -> Bool {
    guard asked.count < EncryptionLimits.unreachedUsers || asked.contains(user) else { return false }
    asked.insert(user)
    return true
  }

  /// - Parameter now: milliseconds since 1970.
  mutating func mayGive(to device: OutboundRoom.Holder, at now: Int64) -> Bool {
    // A clock that was set back does not lengthen the pause.
    if let last = given[device], (0..<DeviceSessions.repairPauseMilliseconds).contains(now - last) { return false }
    if given.count >= Self.devices { given = [:] }
    given[device] = now
    return true
  }
}
