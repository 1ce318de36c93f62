import ClientCore
import Encryption
import MatrixModel
import Olm

/// An authenticator while keys are uploaded, and what the server wanted last.
struct IdentityAuthenticator: Sendable {
  let authenticator: Authenticator?
  var stages = 0
  var needed: InteractiveAuthentication?
}

/// Commands of the machine.
extension MatrixClient {
  // MARK: Commands

  @discardableResult
  func perform(_ command: EncryptionCommand, by authenticator: Authenticator? = nil) async throws(EncryptionError)
    -> EncryptionOutcome
  {
    guard let host = encryptionHost, host.broken == nil, !isStopped else { throw .unavailable }
    if authenticator != nil || identityAuthenticator == nil {
      identityAuthenticator = IdentityAuthenticator(authenticator: authenticator)
    }
    lastEncryptionCommand += 1
    let number = lastEncryptionCommand
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        encryptionCommands[number] = continuation
        step { $0.handle(.command(number, command), at: MatrixClient.now()) }
      }
    } onCancel: {
      Task { await self.endEncryptionCommand(number, nil) }
    }
    let needed = identityAuthenticator?.needed
    if encryptionCommands.isEmpty { identityAuthenticator = nil }
    switch outcome {
    case nil:
      if Task.isCancelled || isStopped { throw .client(.cancelled) }
      throw .unavailable
    case .failed(.refused): throw .client(needed.map { .authenticationNeeded($0) } ?? .notAllowed)
    case .failed(.unreachable): throw .client(.network)
    case .failed(.unusable): throw .client(.badAnswer)
    case .failed(.unverified): throw .unverified
    case .failed(.wrongKey): throw .wrongRecoveryKey
    case .failed(.incomplete): throw .noRecovery
    case .failed(.noBackup): throw .noBackup
    case let outcome?: return outcome
    }
  }

  func inspectRecovery() async throws(EncryptionError) -> RecoveryDescription {
    guard case .recovery(let found) = try await perform(.inspectRecovery) else { throw .unavailable }
    return found
  }

  /// - Parameter outcome: nil if nobody waits any more.
  func endEncryptionCommand(_ command: UInt64, _ outcome: EncryptionOutcome?) {
    encryptionCommands.removeValue(forKey: command)?.resume(returning: outcome)
  }

  func endEncryptionCommands() {
    let waiting = encryptionCommands
    encryptionCommands = [:]
    for continuation in waiting.values { continuation.resume(returning: nil) }
  }

  // MARK: Authentication

  /// The server wants to know that it is the user before it replaces cross-signing keys.
  func authenticate(_ request: MachineRequest, _ needed: InteractiveAuthentication) {
    identityAuthenticator?.needed = needed
    identityAuthenticator?.stages += 1
    let current = identityAuthenticator
    Task {
      guard let current, current.stages <= Authenticator.stagesLimit, let stage = await current.authenticator?.stage(needed)
      else {
        step { $0.handle(.failed(request.id, .refused), at: MatrixClient.now()) }
        return
      }
      ask(request, authentication: stage.body(session: needed.session))
    }
  }

  /// What the first login of an account does: makes its identity. It is not waited for, and goes on after a crash.
  ///
  /// A client that keeps nothing does not: the identity would be gone with it.
  func setUpIdentity(with login: Login?) {
    guard !(store is MemoryStore), encryptionHost?.broken == nil, encryptionHost != nil else { return }
    var authenticator: Authenticator?
    if case .password(let password, .user(let user)) = login {
      authenticator = .password(password.string, user: user.string)
    }
    Task { [authenticator] in try? await perform(.setUpIdentity, by: authenticator) }
  }

  // MARK: Status

  func publishEncryptionStatus() {
    let status = encryptionHost.map { EncryptionStatus($0.state) } ?? EncryptionStatus()
    guard status != publishedStatus else { return }
    publishedStatus = status
    for watcher in encryptionStatuses.values { watcher.yield(status) }
  }

  func watchEncryption() -> AsyncStream<EncryptionStatus> {
    let (stream, continuation) = AsyncStream.makeStream(of: EncryptionStatus.self)
    continuation.yield(publishedStatus)
    guard !isStopped else {
      continuation.finish()
      return stream
    }
    lastStatusWatcher += 1
    let id = lastStatusWatcher
    encryptionStatuses[id] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.stopWatchingEncryption(id) } }
    return stream
  }

  private func stopWatchingEncryption(_ id: Int) { encryptionStatuses[id] = nil }

  // MARK: Others

  func setPolicy(_ readers: SharingPolicy.Readers, _ sendsUnverified: Bool) {
    guard var policy = encryptionHost?.policy else { return }
    policy.readers = readers
    policy.sendsUnverified = sendsUnverified
    step { [policy] in $0.handle(.share(policy), at: MatrixClient.now()) }
  }

  func changedIdentities() -> [ChangedIdentity] {
    (encryptionHost?.changedIdentities ?? []).map { identity in
      ChangedIdentity(
        user: identity.keys.user, wasVerified: identity.change == .ofVerified, master: identity.keys.master.bytes)
    }
  }

  func identityChanges() -> [IdentityChange] {
    (encryptionHost?.keyChanges ?? []).map { IdentityChange(user: $0.user, timestampMilliseconds: $0.at) }
  }

  func accept(_ change: ChangedIdentity) {
    guard let master = Ed25519Key(change.master) else { return }
    step {
      $0.handle(
        change.wasVerified ? .withdrawVerification(of: change.user, master) : .acknowledge(change.user, master),
        at: MatrixClient.now())
    }
  }
}
