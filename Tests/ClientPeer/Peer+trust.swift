import MatrixClient

/// Whose keys are whose.
extension Peer {
  /// - Returns: false if it is another command.
  func performTrust(_ command: Command, _ writer: inout JSONWriter) async throws(EncryptionError) -> Bool {
    let encryption = room.client.encryption
    switch command {
    case .devices(let user):
      let devices = try await encryption.devices(of: user)
      writer.array("verified", devices.filter { $0.isVerified }) { $1.write($0.device) }
      writer.array("others", devices.filter { !$0.isVerified }) { $1.write($0.device) }
      let isVerified = await encryption.isVerified(user)
      writer.member("is_verified", isVerified)
    case .accept(let user):
      for change in await encryption.changedIdentities() where change.user == user { await encryption.accept(change) }
    case .verify(let user):
      let end = try await end(of: encryption.verify(user, in: room.id))
      writer.member("end", end)
    case .takePart:
      let end = try await end(of: nextRequest())
      writer.member("end", end)
    default: return false
    }
    return true
  }

  private func nextRequest() async throws(EncryptionError) -> KeyVerification {
    for await all in await room.client.encryption.verifications() {
      if let asked = all.first(where: { !$0.isOurs && $0.stage == .requested }) { return asked }
    }
    throw .unavailable
  }

  private func end(of verification: KeyVerification) async throws(EncryptionError) -> ByteString {
    let encryption = room.client.encryption
    if !verification.isOurs { try await encryption.accept(verification) }
    var end: KeyVerification.Stage?
    for await now in await encryption.changes(of: verification) {
      switch now.stage {
      case .ready where verification.isOurs: try await encryption.compare(now)
      case .comparing: try await encryption.confirm(now)
      default: break
      }
      end = now.stage
    }
    await encryption.settle(verification)
    return ByteString(end.map { "\($0)" } ?? "none")
  }

  func bytes(of event: EventID) async throws(ClientError) -> Int {
    guard let timeline = await room.state?.timeline, let item = timeline.item(at: event).flatMap({ timeline.item($0) }),
      case .message(let message) = item.content, let file = message.attachment
    else { throw .attachmentIsGone }
    return try await room.client.media(file).count
  }
}

extension EncryptionStatus.Backup {
  var name: ByteString {
    switch self {
    case .off: "off"
    case .on: "on"
    case .replaced: "replaced"
    case .deleted: "deleted"
    }
  }
}
