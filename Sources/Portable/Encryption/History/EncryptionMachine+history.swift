import JSON
import MatrixModel
import Olm

/// A bundle that is to be sent, once the devices of the invited person are known.
struct HistoryShare: Sendable {
  let number: UInt64
  let room: RoomID
  let user: UserID
  /// An `EncryptedFile`.
  let file: JSON
  let since: Int64
}

/// The history of rooms for people who are invited.
extension EncryptionMachine {
  // MARK: Giving

  mutating func beginSharing(_ room: RoomID, with user: UserID, _ file: JSON, _ number: UInt64, at now: Int64) {
    tracker.track([user])
    tracker.changed([user])
    history.shares.append(HistoryShare(number: number, room: room, user: user, file: file, since: now))
  }

  /// The next of them whose readers are known.
  mutating func historyWork(at now: Int64) -> Work? {
    let place = history.shares.firstIndex { share in
      let isLate = now - share.since >= RoomWriting.patienceMilliseconds
      return isLate
        || !tracker.isAnyAwaited(among: [share.user], at: now)
          && !signedDevices(of: share.user).contains { claims.isAwaited($0, at: now) }
    }
    return place.map { .giveHistory(history.shares.remove(at: $0)) }
  }

  /// Nobody else gets a whole history: a server may have made a device up.
  func signedDevices(of user: UserID) -> [DeviceKeys] {
    guard let identity = identities.identity(of: user) else { return [] }
    return tracker.devices(of: user).filter { identity.hasSigned($0) && !policy.excluded.contains($0.signing) }
  }

  mutating func give(_ share: HistoryShare, at now: Int64) {
    let devices = signedDevices(of: share.user)
    let missing = devices.filter { !sessions.hasSession(with: $0) }
    for device in missing { claims.want(device, at: now) }
    if now - share.since < RoomWriting.patienceMilliseconds, missing.contains(where: { claims.isAwaited($0, at: now) }) {
      return history.shares.append(share)
    }
    let content = try? JSON.object { writer in
      writer.member("room_id", share.room)
      writer.member("file", share.file)
    }
    var messages: [ToDeviceRequest.Message] = []
    for device in devices where sessions.hasSession(with: device) {
      guard let content, let message = encrypted("m.room_key_bundle", content, for: device) else { continue }
      messages.append(ToDeviceRequest.Message(device, message))
    }
    send("m.room.encrypted", messages, keysOf: nil)
    end(share.number, messages.isEmpty ? .failed(.unverified) : .done)
  }

  // MARK: Taking

  /// Somebody offers a history. Nothing is downloaded before the user has accepted their invitation.
  mutating func take(offer payload: OlmPayload, at now: Int64) {
    guard payload.device != nil, payload.sender != own.user, let room = RoomID(payload.content["room_id"]),
      let file = payload.content["file"], file.isObject, file.bytes.count <= HistoryOffers.fileBytes
    else { return }
    history.offers.add(
      HistoryOffers.Offer(
        room: room, giver: payload.sender, identity: payload.identity, signing: payload.signing, file: Array(file.bytes),
        at: now))
    unstored.history = true
  }

  mutating func accepted(_ room: RoomID, from inviter: UserID, at now: Int64) {
    history.offers.add(HistoryOffers.Acceptance(room: room, inviter: inviter, at: now))
    unstored.history = true
    tracker.track([inviter])
  }

  /// The keys are here, or cannot be had.
  mutating func historyTaken(_ room: RoomID, from giver: UserID) {
    history.offers.remove(of: giver, in: room)
    unstored.history = true
  }

  /// Says which bundles are to be downloaded, each once until a restart. An offer of a device that is not known to be its user's waits: the user may
  /// be about to sign it.
  mutating func wantHistory(at now: Int64) {
    for offer in history.offers.wanted(at: now) where !tracker.isAwaited(offer.giver) {
      guard let device = tracker.device(offer.identity, offer.signing, of: offer.giver),
        identities.identity(of: offer.giver)?.hasSigned(device) ?? false, history.asked.insert(offer.room).inserted
      else { continue }
      guard let file = try? JSON.parse(offer.file) else {
        historyTaken(offer.room, from: offer.giver)
        continue
      }
      output.results.append(.history(offer.room, from: offer.giver, file))
    }
  }
}

/// What is under way with histories.
struct HistoryState: Sendable {
  var offers = HistoryOffers()
  var shares: [HistoryShare] = []
  /// Rooms whose bundle the host was told to download.
  var asked: Set<RoomID> = []
}
