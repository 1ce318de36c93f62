import JSON
import MatrixModel
import Olm

/// What goes: keys of rooms to those who are to read them, and messages after them.
extension EncryptionMachine {
  // MARK: What rooms are

  mutating func note(_ content: JSON, of room: RoomID) {
    let known = rooms[room]
    var encryption = known ?? RoomEncryption(content)
    encryption.heed(content)
    guard encryption != known else { return }
    rooms[room] = encryption
    unstored.rooms.insert(room)
  }

  /// What still waits does not go to them.
  mutating func end(_ room: RoomID, without users: [UserID]) {
    writing[room]?.members.users.removeAll { users.contains($0) }
    guard outbound[room] != nil else { return }
    outbound[room]?.end()
    unstored.sessions.insert(room)
  }

  // MARK: Who writes

  mutating func prepare(_ members: RoomMembers) {
    guard rooms[members.room]?.isSupported ?? false else { return }
    write(in: members)
    writing[members.room]?.isPreparing = true
  }

  mutating func encrypt(_ type: EventType, _ content: JSON, _ number: UInt64, for members: RoomMembers) {
    guard let encryption = rooms[members.room] else {
      output.results.append(.blocked(number, .notEncrypted))
      return
    }
    guard encryption.isSupported else {
      output.results.append(.blocked(number, .unknownAlgorithm))
      return
    }
    write(in: members)
    writing[members.room]?.messages.append(RoomWriting.Message(destination: .host(number), type: type, content: content))
  }

  mutating func write(in members: RoomMembers) {
    writing[members.room, default: RoomWriting(members: members)].members = members
    tracker.track(members.users)
    stale.insert(members.room)
  }

  // MARK: Who reads

  private func needsNewSession(_ room: RoomID, for recipients: Recipients, at now: Int64) -> Bool {
    guard let session = outbound[room], let encryption = rooms[room], let members = writing[room]?.members else { return true }
    return session.isDue(encryption, recipients, sharesHistory: members.sharesHistory, at: now)
  }

  /// Devices that do not have the key of the room's next message.
  func missing(in room: RoomID, at now: Int64) -> [DeviceKeys] {
    guard let known = writing[room], !known.isIdle, let recipients = try? trust.recipients(known.members.users) else {
      return []
    }
    guard !needsNewSession(room, for: recipients, at: now) else { return recipients.readers }
    return outbound[room]?.missing(recipients) ?? []
  }

  // MARK: Sharing

  /// Nothing that waits in the room leaves this device.
  private mutating func block(_ room: RoomID, _ reason: SharingBlock) {
    for message in writing[room]?.messages ?? [] {
      switch message.destination {
      case .host(let number): output.results.append(.blocked(number, .undecided(reason)))
      case .verification(let sending): sayPlain(sending)
      }
    }
    writing[room]?.messages = []
    writing[room]?.isPreparing = false
  }

  /// One step further for what waits in the room: lists of devices, then sessions with them, then the key, then the messages.
  mutating func advance(_ room: RoomID, at now: Int64) {
    guard let known = writing[room], !known.isIdle else { return }
    // The user may have left the room meanwhile and shares no other with them: without their devices it would be written for nobody.
    tracker.track(known.members.users)
    guard knowsDevices(known.members, at: now) else { return }
    let recipients: Recipients
    do throws(SharingBlock) { recipients = try trust.recipients(known.members.users) } catch { return block(room, error) }
    let isNew = needsNewSession(room, for: recipients, at: now)
    let missing = isNew ? recipients.readers : outbound[room]?.missing(recipients) ?? []
    guard !waitsForSessions(with: missing, at: now) else { return }
    if isNew { beginSession(in: room, known.members, at: now) }
    share(room, with: missing, withheld: recipients.withheld)
    guard !requests.areSendingKeys(of: room) else { return }
    send(in: room, for: recipients, at: now)
  }

  /// Whether nothing has to be waited for. A server that does not answer holds nobody up for long.
  private mutating func knowsDevices(_ members: RoomMembers, at now: Int64) -> Bool {
    guard tracker.isAnyAwaited(among: members.users + [own.user], at: now) else {
      writing[members.room]?.waitsSince = nil
      return true
    }
    let since = writing[members.room]?.waitsSince ?? now
    writing[members.room]?.waitsSince = since
    return now - since >= RoomWriting.patienceMilliseconds
  }

  private mutating func waitsForSessions(with devices: [DeviceKeys], at now: Int64) -> Bool {
    for device in devices where !sessions.hasSession(with: device) { claims.want(device, at: now) }
    return devices.contains { !sessions.hasSession(with: $0) && claims.isAwaited($0, at: now) }
  }

  private mutating func beginSession(in room: RoomID, _ members: RoomMembers, at now: Int64) {
    let session = OutboundRoom(room, sharesHistory: members.sharesHistory, random: &random, at: now)
    if let key = try? session.ownKey(of: own) {
      // Nobody else has a session of this ID.
      roomKeys.entries.load(nil, key.name)
      _ = keep([key], fromBackup: false, at: now)
    }
    outbound[room] = session
    unstored.sessions.insert(room)
    unstored.holders.insert(room)
  }

  private mutating func share(_ room: RoomID, with devices: [DeviceKeys], withheld: [Recipients.Withheld]) {
    guard var session = outbound[room] else { return }
    var (keys, refusals): ([ToDeviceRequest.Message], [ToDeviceRequest.Message]) = ([], [])
    var others = withheld
    let left = try? session.share(with: devices) { key, device in
      guard sessions.hasSession(with: device), let content = encrypted("m.room_key", key, for: device) else { return false }
      keys.append(ToDeviceRequest.Message(device, content))
      return true
    }
    others += (left ?? devices).map { Recipients.Withheld($0, .noOlm) }
    for entry in others {
      guard let content = try? session.withhold(entry, from: own) else { continue }
      figures.refusedDevices += 1
      refusals.append(ToDeviceRequest.Message(entry.device, Array(content.bytes)))
    }
    guard !keys.isEmpty || !refusals.isEmpty else { return }
    outbound[room] = session
    unstored.holders.insert(room)
    send("m.room.encrypted", keys, keysOf: room)
    send("m.room_key.withheld", refusals, keysOf: nil)
  }

  /// An event for a device that there is a session with.
  mutating func encrypted(_ type: ByteString, _ content: JSON, for device: DeviceKeys) -> [UInt8]? {
    do throws(OlmError) {
      return try sessions.encrypt(type, content, for: device, from: own, random: &random)
    } catch { return nil }
  }

  // MARK: Messages

  private mutating func send(in room: RoomID, for recipients: Recipients, at now: Int64) {
    while let message = writing[room]?.messages.first {
      // The one before may have been the session's last.
      guard !needsNewSession(room, for: recipients, at: now), var session = outbound[room] else {
        stale.insert(room)
        return
      }
      writing[room]?.messages.removeFirst()
      do throws(OlmError) {
        let content = try session.encrypt(message.type, message.content, from: own)
        outbound[room] = session
        unstored.sessions.insert(room)
        switch message.destination {
        case .host(let number): output.results.append(.encrypted(number, content))
        case .verification(let sending): said(sending, encrypted: content)
        }
      } catch {
        switch message.destination {
        case .host(let number): output.results.append(.blocked(number, .malformed))
        case .verification(let sending): sayPlain(sending)
        }
      }
    }
    guard writing[room]?.isPreparing ?? false else { return }
    writing[room]?.isPreparing = false
    output.results.append(.prepared(room))
  }
}
