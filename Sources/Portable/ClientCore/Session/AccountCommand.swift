import JSON
import MatrixModel

/// The user's profile, account data and notification settings.
public enum AccountCommand: Sendable {
  case setDisplayName(ByteString)
  /// Uploads the picture, then names it in the profile.
  case setAvatar(BlobHandle, mimeType: ByteString)
  /// `content` is a JSON object.
  case setAccountData(EventType, content: [UInt8])
  /// Ends when the server has all of it. Fails with `invalidContent` for an invalid keyword.
  case changeNotifications(NotificationChange)
}

extension Client {
  mutating func handle(_ command: AccountCommand, _ id: CommandID) {
    switch command {
    case .setDisplayName(let name): setProfile("displayname", name, id)
    case .setAvatar(let blob, let mimeType): uploadAvatar(blob, mimeType: mimeType, id)
    case .setAccountData(let type, let content): setAccountData(type, content, .command(id))
    case .changeNotifications(let change): changeNotifications(change, id)
    }
  }
}
