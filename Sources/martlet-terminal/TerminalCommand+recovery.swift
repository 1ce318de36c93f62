import Glibc
import JSON
import MatrixClient
import Shell
import Telemetry

/// Recovery: the key that verifies another device and opens the backup.
extension TerminalCommand {
  static let recovery = TerminalCommand(
    "recovery", [], "Shows whether this device is verified, and whether the account has a recovery key and a backup."
  ) { call in
    try await call.withAccount { account in
      try requireKeys(of: account)
      let encryption = account.client.encryption
      let (state, status) = (try await encryption.recoveryState(), await encryption.status)
      call.show("\(status.words)\n\(state.words)\n\(status.backup.words)") { writer in
        writer.member("verified", status.isVerified)
        writer.member("recovery", state.name)
        writer.member("backup", status.backup.name)
        if case .on(let waiting) = status.backup { writer.member("waiting", waiting) }
      }
    }
  }

  static let setUpRecovery = TerminalCommand(
    "recovery set-up", [], options: [Option(name: "--passphrase"), passphraseFile],
    "Makes a recovery key and a backup of the keys of rooms; --passphrase asks for a passphrase that opens the same."
  ) { call in
    let isAsked = call.arguments.has("--passphrase") || call.arguments.text("--passphrase-file") != nil
    let words = isAsked ? try passphrase(call) { try PasswordPrompt.read(.passphrase) } : nil
    try await call.withAccount { account in
      try requireKeys(of: account)
      let key = try await account.client.encryption.setUpRecovery(passphrase: words)
      await until(account) { status in
        if case .on(let waiting) = status.backup { waiting == 0 } else { true }
      }
      call.show("Keep this recovery key. It is not stored here, and nobody can find it again:\n\(key)") { writer in
        writer.member("recovery_key", ByteString(key))
      }
    }
  }

  static let useRecovery = TerminalCommand(
    "recovery use", [], options: [Option(name: "--key-file", value: "PATH")],
    "Asks for the recovery key or the passphrase, verifies this device by it, and fetches the keys of the backup."
  ) { call in
    let text = try recoveryKey(call)
    try await call.withAccount { account in
      try requireKeys(of: account)
      try await account.client.encryption.recover(with: text)
      let bar = ProgressBar()
      await until(account) { status in
        if let restore = status.restore, restore.count > 0 { bar.show(Double(restore.done) / Double(restore.count), "keys") }
        return status.restore == nil && status.isVerified
      }
      ProgressBar.clear()
      call.show("This device is verified.") { $0.member("verified", true) }
    }
  }

  /// Waits for a status, also for one that may never come, for a minute.
  private static func until(_ account: Account, _ isReached: @escaping @Sendable (EncryptionStatus) -> Bool) async {
    let statuses = await account.client.encryption.statuses()
    let waiting = Task { for await status in statuses where isReached(status) { return } }
    let timeout = Task {
      if (try? await Task.sleep(for: .seconds(60))) != nil { waiting.cancel() }
    }
    await waiting.value
    timeout.cancel()
  }

  private static func recoveryKey(_ call: TerminalCall) throws -> String {
    if let path = call.arguments.text("--key-file") {
      return String(decoding: try PasswordPrompt.line(ofFile: path, .recoveryKey).reveal(), as: UTF8.self)
    }
    guard isatty(STDIN_FILENO) == 1 else {
      throw TerminalError.usage("there is no terminal to ask for the recovery key on; --key-file reads it from a file")
    }
    return String(decoding: try PasswordPrompt.readKnown(.recoveryKey).reveal(), as: UTF8.self)
  }
}

extension EncryptionStatus {
  fileprivate var words: String {
    isVerified ? "This device is verified." : "This device is not verified: others may not encrypt for it."
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

  fileprivate var words: String {
    switch self {
    case .off: "The keys of rooms are not backed up."
    case .on(0): "All keys of rooms are backed up."
    case .on(let waiting): "The keys of rooms are backed up; \(waiting) wait."
    case .replaced: "Another device has made another backup; martlet recovery use or set-up."
    case .deleted: "The backup is gone from the server; martlet recovery set-up makes another."
    }
  }
}

extension RecoveryState {
  fileprivate var name: ByteString {
    switch self {
    case .disabled: "disabled"
    case .enabled: "enabled"
    case .incomplete: "incomplete"
    case .changed: "changed"
    }
  }

  fileprivate var words: String {
    switch self {
    case .disabled: "There is no recovery key; martlet recovery set-up makes one."
    case .enabled: "The account has a recovery key."
    case .incomplete: "The recovery key does not open everything; martlet recovery set-up makes another."
    case .changed: "The account has another recovery key than the one that was used here."
    }
  }
}
