import JSON
import MatrixModel
import Olm

/// Events of the app between devices, such as the keys of a call. Spec: Client-Server API, "m.olm.v1.curve25519-aes-sha2".
extension EncryptionMachine {
  // MARK: Sending

  mutating func beginMessage(
    _ type: ByteString, _ content: JSON, to devices: [DeviceAddress], _ number: UInt64, at now: Int64
  ) {
    guard DeviceMessages.isOfApp(type), content.isObject, content.bytes.count <= EncryptionLimits.messageBytes,
      devices.count <= EncryptionLimits.devicesOfMessage, messages.outgoing.count < DeviceMessages.outgoingLimit
    else { return end(number, .failed(.unusable)) }
    let users = Set(devices.map { $0.user }).ordered()
    tracker.track(users)
    messages.outgoing.append(
      DeviceMessages.Outgoing(
        number: number, type: type, content: content, devices: Set(devices), users: users, since: now))
  }

  /// The next one whose readers are known.
  mutating func messageWork(at now: Int64) -> Work? {
    let place = messages.outgoing.firstIndex { message in
      message.isLate(at: now)
        || !tracker.isAnyAwaited(among: message.users, at: now)
          && !readers(of: message).contains { claims.isAwaited($0, at: now) }
    }
    return place.map { .giveMessage(messages.outgoing.remove(at: $0)) }
  }

  /// Those of its devices that may have keys of rooms. A user about whom ours has to decide first gets nothing; the others do.
  func readers(of message: DeviceMessages.Outgoing) -> [DeviceKeys] {
    message.users.flatMap { readers(of: $0) }.filter { message.devices.contains(DeviceAddress($0)) }
  }

  private func readers(of user: UserID) -> [DeviceKeys] {
    (try? trust.recipients([user]))?.readers.filter { $0.user == user } ?? []
  }

  /// The sessions with the readers are loaded.
  mutating func give(_ message: DeviceMessages.Outgoing, at now: Int64) {
    let readers = readers(of: message)
    let missing = readers.filter { !sessions.hasSession(with: $0) }
    for device in missing { claims.want(device, at: now) }
    if !message.isLate(at: now), missing.contains(where: { claims.isAwaited($0, at: now) }) {
      return messages.outgoing.append(message)
    }
    var (sent, told): ([ToDeviceRequest.Message], [DeviceAddress]) = ([], [])
    for device in readers {
      guard let content = encrypted(message.type, message.content, for: device) else { continue }
      sent.append(ToDeviceRequest.Message(device, content))
      told.append(DeviceAddress(device))
    }
    send("m.room.encrypted", sent, keysOf: nil)
    end(message.number, .told(told))
  }

  // MARK: Receiving

  /// Tells the host of what devices have sent that are known now. One that its user's list does not have is nobody's.
  mutating func tellMessages(at now: Int64) {
    for payload in messages.takeKnown(by: tracker, at: now) {
      guard let device = tracker.device(payload.identity, payload.signing, of: payload.sender) else { continue }
      let owner = RoomKey.Owner(user: payload.sender, identity: payload.identity, signing: payload.signing)
      output.results.append(
        .received(
          ReceivedMessage(
            type: payload.type, content: payload.content, sender: DeviceAddress(device), trust: trust.trust(in: .proven(owner)),
            isReader: readers(of: device.user).contains { $0.hasSameKeys(as: device) })))
    }
  }
}
