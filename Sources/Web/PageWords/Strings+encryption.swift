import ClientCore
import JSON
import PageWidgets

/// What is said of encrypted messages.
extension Strings {
  /// Why a key has not come for a minute, and what to do.
  ///
  /// - Parameter isVerified: whether this browser is.
  package static func wordsOfOverdueKey(isVerified: Bool) -> String { Strings[isVerified ? .keyOverdue : .verifyToRead] }

  /// Why it cannot be read, and what to do if there is something.
  package static func words(for reason: UndecryptableReason) -> String {
    switch reason {
    case .waiting: Strings[.waitingForKey]
    case .withheld(.blacklisted): Strings[.keyBlocked]
    case .withheld(.unverified): Strings[.keyForVerified]
    case .withheld(.unauthorised), .withheld(.unavailable): Strings[.keyRefused]
    case .withheld(.noOlm): Strings[.keyUnreachable]
    case .beforeJoining, .withheld(.historyNotShared): Strings[.sentBeforeJoining]
    case .historyUnavailable(.noBackup): Strings[.sentBeforeDevice]
    case .historyUnavailable(.unverifiedDevice): Strings[.verifyToRead]
    case .unsignedDevice: Strings[.hiddenUnsigned]
    case .identityChanged: Strings[.hiddenChanged]
    case .replayed: Strings[.hiddenReplay]
    case .damaged: Strings[.messageDamaged]
    }
  }

  /// What is off; nil if nothing is.
  package static func words(for trust: MessageTrust) -> String? {
    switch trust {
    case .verified, .pinned: nil
    case .unsignedDevice: Strings[.fromUnsigned]
    case .unknownDevice: Strings[.fromUnknown]
    case .notProven: Strings[.senderNotProven]
    case .identityChanged: Strings[.senderKeysChanged]
    case .unencrypted: Strings[.notEncryptedMessage]
    }
  }
}
