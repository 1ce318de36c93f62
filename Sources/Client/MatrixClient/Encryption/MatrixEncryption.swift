import Encryption
import JSON
public import MatrixModel
import Olm

/// The encryption of an account: identity, recovery, backup and key files. Messages are encrypted and decrypted without it.
///
///     let key = try await client.encryption.setUpRecovery()
///     print("Write this down:", key)
///
/// and on another device
///
///     try await client.encryption.recover(with: key)
///
/// Spec: Client-Server API, "Cross-signing", "Secret storage" and "Server-side key backups".
public struct MatrixEncryption: Sendable {
  public let client: MatrixClient

  // MARK: Status

  public var status: EncryptionStatus {
    get async { await client.encryptionHost.map { EncryptionStatus($0.state) } ?? EncryptionStatus() }
  }

  /// Returns a stream of statuses. It starts with the current one and ends with `stop`.
  public func statuses() async -> AsyncStream<EncryptionStatus> { await client.watchEncryption() }

  /// What could not be read since the client began, and what cannot be read now; nil without encryption.
  public var diagnostics: EncryptionDiagnostics? {
    get async { await client.encryptionHost.map { EncryptionDiagnostics($0, at: MatrixClient.now()) } }
  }

  // MARK: Identity

  /// Makes the account's cross-signing keys if it has none, as a login does. They sign this device.
  public func setUpIdentity(by authenticator: Authenticator? = nil) async throws(EncryptionError) {
    try await client.perform(.setUpIdentity, by: authenticator)
  }

  /// Replaces the account's cross-signing keys, recovery key and backup, if all devices and the recovery key are lost. Old messages that no device
  /// can read stay unreadable, other devices have to be verified anew, and people who verified the user see that the keys have changed.
  ///
  /// - Returns: the new recovery key.
  public func resetIdentity(
    passphrase: String? = nil, by authenticator: Authenticator? = nil
  ) async throws(EncryptionError) -> String {
    try await client.perform(.resetIdentity, by: authenticator)
    return try await setUpRecovery(passphrase: passphrase)
  }

  // MARK: Recovery

  /// Asks the server whether the account has a recovery key.
  public func recoveryState() async throws(EncryptionError) -> RecoveryState {
    let found = try await client.inspectRecovery()
    guard found.key != nil else { return .disabled }
    guard found.isFamiliar else { return .changed }
    return found.missing.isEmpty ? .enabled : .incomplete
  }

  /// Stores the cross-signing keys and the key of a backup at the server, encrypted with a new recovery key. An earlier recovery key is of no more use.
  ///
  /// - Parameter passphrase: opens the same as the recovery key, for users who prefer words. It should not be the password, which the server sees.
  /// - Returns: the recovery key, which the user has to keep. It is stored nowhere.
  public func setUpRecovery(passphrase: String? = nil) async throws(EncryptionError) -> String {
    if await !status.hasIdentity { try await setUpIdentity() }
    var random = SecretSource.system
    var (secret, derivation) = (random.secret(32), PassphraseKey?.none)
    if let passphrase, let key = StorageKeyDescription.newPassphrase(random: &random) {
      (secret, derivation) = (await Self.derive(key, from: passphrase), key)
    }
    try await client.perform(.setUpRecovery(secret, passphrase: derivation))
    return RecoveryKey(secret).map { String(decoding: $0.text, as: UTF8.self) } ?? ""
  }

  /// Verifies this device by the recovery key or the passphrase. It can read from then on what is in the backup, which is fetched meanwhile
  /// (`EncryptionStatus.restore`).
  public func recover(with text: String) async throws(EncryptionError) {
    guard let description = try await client.inspectRecovery().key else { throw .noRecovery }
    let secret: Secret
    if let key = try? RecoveryKey(text: Array(text.utf8)) {
      secret = key.secret
    } else if let passphrase = description.passphrase {
      secret = await Self.derive(passphrase, from: text)
    } else {
      throw .wrongRecoveryKey
    }
    try await client.perform(.recover(description, secret))
  }

  @concurrent
  private static func derive(_ key: PassphraseKey, from text: String) async -> Secret {
    key.derive(from: Array(text.utf8), byteCount: 32)
  }

  // MARK: Backup

  /// Fetches all keys of the backup. `recover` does that, too.
  public func restoreBackup() async throws(EncryptionError) { try await client.perform(.restoreBackup) }

  /// Deletes the backup at the server. `setUpRecovery` makes another.
  public func deleteBackup() async throws(EncryptionError) { try await client.perform(.deleteBackup) }

  // MARK: Others

  public var readers: EncryptionReaders {
    get async {
      switch await client.encryptionHost?.policy.readers {
      case .signed: .signed
      case .verified: .verified
      case .all: .all
      case .signedIfAny, nil: .signedIfAny
      }
    }
  }

  /// Sets whom keys of rooms are for, also after a restart.
  ///
  /// - Parameter sendsUnverified: whether this device sends while it is not verified.
  public func setReaders(_ readers: EncryptionReaders, sendsUnverified: Bool = true) async {
    let kind: SharingPolicy.Readers =
      switch readers {
      case .signedIfAny: .signedIfAny
      case .signed: .signed
      case .verified: .verified
      case .all: .all
      }
    await client.setPolicy(kind, sendsUnverified)
  }

  public func isVerified(_ user: UserID) async -> Bool { await client.encryptionHost?.isVerified(user) ?? false }

  /// Returns the users whose keys have changed. Messages to rooms with them end with `unconfirmedIdentity` until the changes are accepted.
  public func changedIdentities() async -> [ChangedIdentity] { await client.changedIdentities() }

  /// Returns when the keys of users changed last, also of those whose changes were accepted, the oldest first.
  public func identityChanges() async -> [IdentityChange] { await client.identityChanges() }

  /// Accepts the keys that a user has now. A user who was verified is not any more.
  public func accept(_ change: ChangedIdentity) async { await client.accept(change) }
}

extension MatrixClient {
  /// Identity, recovery and backup.
  public nonisolated var encryption: MatrixEncryption { MatrixEncryption(client: self) }
}
