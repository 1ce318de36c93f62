extension UndecryptableReason {
  /// A key that has not come for so long will hardly come by itself.
  public static var patienceMilliseconds: Int64 { 60_000 }

  /// Whether the user should hear what helps in place of that the key is on its way.
  ///
  /// - Parameters:
  ///   - sentAt: the event's time, in milliseconds since 1970, as `now`.
  public func isOverdue(sentAt: Int64, at now: Int64) -> Bool {
    self == .waiting && now - sentAt >= Self.patienceMilliseconds
  }

  /// Like `english`, and says what helps once it has waited for its key for a minute.
  public func english(sentAt: Int64, at now: Int64) -> String {
    isOverdue(sentAt: sentAt, at: now)
      ? "Its key has not come. Ask your other devices for it, or its sender to send it again." : english
  }

  /// In a sentence, with what to do if there is something.
  public var english: String {
    switch self {
    case .waiting: "Waiting for the key of this message."
    case .withheld(.blacklisted): "The sender has blocked this device."
    case .withheld(.unverified): "The sender writes to verified devices only. Verify this one."
    case .withheld(.unauthorised): "The sender does not let this device read it."
    case .withheld(.unavailable): "The device that was asked does not have the key."
    case .withheld(.noOlm): "The sender could not reach this device. Later messages will be readable."
    case .withheld(.historyNotShared), .beforeJoining: "It was sent before you joined."
    case .historyUnavailable(.noBackup): "It was sent before you signed in here, and there is no backup of its key."
    case .historyUnavailable(.unverifiedDevice): "Verify this device to read it, with another one or your recovery key."
    case .unsignedDevice: "It is hidden: its owner has not verified the device that sent it."
    case .identityChanged: "It is hidden: the keys of its sender have changed."
    case .replayed: "It repeats an earlier message and is not shown."
    case .damaged: "It is damaged and cannot be decrypted."
    }
  }
}
