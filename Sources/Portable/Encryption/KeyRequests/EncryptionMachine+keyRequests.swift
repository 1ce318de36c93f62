import JSON
import MatrixModel
import Olm

/// Keys of rooms that the user's devices hand on to each other.
extension EncryptionMachine {
  // MARK: Asking

  /// Events lack keys that another device of the user may have.
  mutating func wantKeys(of events: [DecryptedEvent], at now: Int64) {
    for event in events {
      if case .failure(let reason) = event.outcome, reason.lacksKey, reason != .beforeJoining {
        keyRequests.want(event.event.name, at: now)
      }
    }
  }

  var otherVerifiedDevices: [DeviceKeys] { tracker.devices(of: own.user).filter { trust.isVerifiedOwn($0) } }

  /// The backup comes first.
  mutating func askForKeys(at now: Int64) {
    let names = keyRequests.takeDue(at: now)
    guard !names.isEmpty else { return }
    let devices = otherVerifiedDevices
    for name in names where !devices.isEmpty {
      if restores.isBusy(with: name) || requests.isRestoring(name) {
        keyRequests.want(name, at: now)
        continue
      }
      let request = keyRequests.ask(for: name, devices, random: &random, at: now)
      send(request, for: name, isCancelled: false)
    }
  }

  /// Keys have come: nobody need answer any more.
  mutating func closeRequests(for names: [RoomKeys.Name]) {
    for name in names {
      if let request = keyRequests.close(name) { send(request, for: name, isCancelled: true) }
    }
  }

  private mutating func send(_ request: KeyRequests.Request, for name: RoomKeys.Name, isCancelled: Bool) {
    let content = request.content(for: name, from: own.device, isCancelled: isCancelled)
    send("m.room_key_request", request.devices.map { ToDeviceRequest.Message($0, content) }, keysOf: nil)
  }

  /// Returns the key that a device of the user hands on; nil unless it was asked for it and is verified.
  func forwardedKey(_ payload: OlmPayload) -> RoomKey? {
    guard let device = tracker.device(payload.identity, payload.signing, of: payload.sender), trust.isVerifiedOwn(device),
      let exported = try? ExportedRoomKey(payload.content, from: .file)
    else { return nil }
    let key = exported.roomKey
    return keyRequests.wasAsked(device, for: key.name) ? key : nil
  }

  // MARK: Answering

  /// An `m.room_key_request`, which is not encrypted. The devices of others get nothing.
  mutating func take(keyRequest content: JSON, from sender: UserID) {
    guard sender == own.user, let device = content["requesting_device_id"].flatMap({ DeviceID($0) }),
      let request = content.text("request_id"), request.count <= EncryptionLimits.requestIDBytes
    else { return }
    if content.text("action") == "request_cancellation" { return keyAnswers.cancel(request, by: device) }
    guard content.text("action") == "request", let body = content["body"], body.text("algorithm") == Algorithm.megolm,
      let room = RoomID(body["room_id"]), let session = body.text("session_id"),
      session.count <= EncryptionLimits.sessionIDBytes, let keys = tracker.device(device, of: sender), trust.isVerifiedOwn(keys)
    else { return }
    keyAnswers.add(KeyAnswers.Question(device: keys, request: request, name: RoomKeys.Name(room, session)))
    queueLast(.answerKeys)
  }

  /// Those whose devices have a session with this one; for the others one is begun.
  mutating func answerKeys(at now: Int64) {
    for question in keyAnswers.take() where trust.isVerifiedOwn(question.device) {
      guard let key = roomKeys.keys(of: question.name).first else { continue }
      guard sessions.hasSession(with: question.device) else {
        claims.want(question.device, at: now)
        if claims.isAwaited(question.device, at: now) { keyAnswers.add(question) }
        continue
      }
      guard keyAnswers.count(at: now), let content = Self.forwarded(key),
        let message = encrypted("m.forwarded_room_key", content, for: question.device)
      else { continue }
      send("m.room.encrypted", [ToDeviceRequest.Message(question.device, message)], keysOf: nil)
    }
  }

  private static func forwarded(_ key: RoomKey) -> JSON? {
    let exported = ExportedRoomKey(key)
    guard let secret = try? key.session.exportedKey(at: key.session.firstIndex) else { return nil }
    return try? JSON.object { writer in
      writer.member("algorithm", Algorithm.megolm)
      writer.member("room_id", key.room)
      writer.member("session_id", key.id)
      writer.member("session_key", base64: secret.exposed())
      writer.member("sender_key", base64: exported.sender.bytes)
      if let fingerprint = exported.fingerprint { writer.member("sender_claimed_ed25519_key", base64: fingerprint.bytes) }
      writer.array("forwarding_curve25519_key_chain", [] as [ByteString]) { $1.write($0) }
      writer.member("shared_history", key.sharesHistory)
    }
  }
}
