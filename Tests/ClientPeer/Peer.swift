import MatrixClient

/// One account in one room, doing what it is told.
actor Peer {
  let room: MatrixRoom
  /// Commands that wait for the server.
  private var running = 0

  init(room: MatrixRoom) { self.room = room }

  /// False where it is the last.
  func take(_ line: String) async -> Bool {
    guard let json = try? JSON.parse(Array(line.utf8)), let id = json["id"]?.integer, let command = Command(json) else {
      say(#"{"error":"no command"}"#)
      return true
    }
    switch command {
    case .stop: return false
    // In the order of the commands: they end in the outbox, or at once.
    case .send, .edit, .react, .reply, .thread, .typing, .viewed, .network, .rest, .clock, .retry:
      await carryOut(command, id)
    default:
      running += 1
      Task {
        await carryOut(command, id)
        running -= 1
      }
    }
    return true
  }

  private func carryOut(_ command: Command, _ id: Int64) async {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("id", id)
    do {
      if case .report(let since, let threads) = command {
        try await Report(of: room, since: since, threads: threads, running: running - 1).write(to: &writer)
      } else if let made = try await make(command) {
        writer.member("room", made.id)
      } else if case .file(let event) = command {
        let count = try await bytes(of: event)
        writer.member("bytes", count)
      } else if try await !performRecovery(command, &writer), try await !performTrust(command, &writer) {
        try await perform(command)
      }
    } catch {
      writer.member("error", "\(error)")
    }
    writer.endObject()
    say(String(decoding: writer.bytes, as: UTF8.self))
  }

  private func make(_ command: Command) async throws(ClientError) -> MatrixRoom? {
    switch command {
    case .direct(let user): try await room.client.directChat(with: user)
    case .create(let isPublic): try await room.client.createRoom(NewRoom(preset: isPublic ? .publicChat : .privateChat))
    default: nil
    }
  }

  private func perform(_ command: Command) async throws(ClientError) {
    switch command {
    case .send(let text): try await room.send(text)
    case .edit(let event, let text): try await room.edit(.event(event), text)
    case .react(let event, let key): try await room.toggleReaction(key, to: .event(event))
    case .reply(let event, let user, let text): try await room.reply(text, to: .event(event), mentioning: user)
    case .thread(let root, let text): try await room.send(text, inThread: root)
    case .redact(let event): try await room.redact(.event(event))
    case .attach(let path): try await room.sendFile(path, mimeType: "application/octet-stream")
    case .typing(let isOn): try await room.setTyping(isOn)
    case .name(let name): try await room.client.setDisplayName(name)
    case .retry: try await room.client.perform(.sending(.retryAll(room.id)))
    case .network(let isOnline): await room.client.networkChanged(isOnline: isOnline)
    case .clock(let error): MatrixClient.setClockError(error)
    case .rest(let isResting): if isResting { try await room.client.pause() } else { try await room.client.resume() }
    case .report, .stop, .encryption, .setUpRecovery, .recover, .resetIdentity, .direct, .create, .devices, .accept, .verify,
      .takePart, .file:
      break
    default: try await performReading(command)
    }
  }

  /// - Returns: false if it is another command.
  private func performRecovery(_ command: Command, _ writer: inout JSONWriter) async throws(EncryptionError) -> Bool {
    let encryption = room.client.encryption
    switch command {
    case .encryption:
      let status = await encryption.status
      writer.member("has_identity", status.hasIdentity)
      writer.member("is_verified", status.isVerified)
      writer.member("backup", status.backup.name)
      if case .on(let waiting) = status.backup { writer.member("waiting", waiting) }
      writer.member("is_restoring", status.restore != nil)
      writer.member("dehydrated", ByteString("\(status.dehydratedDevice)"))
      if let error = status.dehydratedDeviceError { writer.member("dehydrated_error", ByteString("\(error)")) }
      let changed = await encryption.changedIdentities(), verifications = await encryption.currentVerifications
      writer.array("changed", changed) { $1.write($0.user) }
      writer.array("verifications", verifications) { $1.write(ByteString("\($0.user.string) \($0.stage)")) }
      if let diagnostics = await encryption.diagnostics { Report.write(diagnostics, to: &writer) }
      writer.member("recovery", ByteString("\(try await encryption.recoveryState())"))
    case .setUpRecovery(let passphrase):
      writer.member("key", ByteString(try await encryption.setUpRecovery(passphrase: passphrase)))
    case .recover(let text): try await encryption.recover(with: text)
    case .resetIdentity(let password):
      let user = await room.client.userID?.string ?? ""
      writer.member("key", ByteString(try await encryption.resetIdentity(by: .password(password, user: user))))
    default: return false
    }
    return true
  }

  private func performReading(_ command: Command) async throws(ClientError) {
    switch command {
    case .readAll: try await room.markRead()
    case .read(let event, let root): try await room.markRead(upTo: event, inThread: root)
    case .viewed(let event):
      if let item = await room.state?.timeline.item(at: event) { try await room.timeline().viewed(upTo: item) }
    default: try await performMembership(command)
    }
  }

  private func performMembership(_ command: Command) async throws(ClientError) {
    switch command {
    case .join: try await room.join()
    case .leave: try await room.leave()
    case .invite(let user): try await room.invite(user)
    case .kick(let user): try await room.kick(user)
    case .ban(let user): try await room.ban(user)
    case .unban(let user): try await room.unban(user)
    default: break
    }
  }
}
