import JSON
import MatrixClient
import MatrixModel
import Shell

/// What is known when a message cannot be read.
extension TerminalCommand {
  static let encryption = TerminalCommand(
    "encryption", [], isHandedOver: true,
    "Shows what is known of this device's encryption, for a report when something cannot be read; there are no secrets in it."
  ) { call in
    try await call.withAccount { account in
      try requireKeys(of: account)
      let encryption = account.client.encryption
      guard let diagnostics = await encryption.diagnostics, let session = await account.client.session else {
        throw TerminalError.failed("this device has no encryption")
      }
      let status = await encryption.status
      call.show(diagnostics.english) { writer in
        writer.member("device_id", session.deviceID)
        writer.member("identity", status.hasIdentity)
        writer.member("verified", status.isVerified)
        writer.member("backup", status.backup.name)
        if case .on(let waiting) = status.backup { writer.member("waiting", waiting) }
        writer.member("unread", diagnostics.unread.values.reduce(0) { $0 + $1.count })
        writer.member("ever_unread", diagnostics.everUnread)
        writer.member("late", diagnostics.late.count)
        writer.member("repaired_sessions", diagnostics.repairedSessions)
        writer.member("refused_devices", diagnostics.refusedDevices)
        writer.member("text", ByteString(diagnostics.english))
      }
    }
  }
}
