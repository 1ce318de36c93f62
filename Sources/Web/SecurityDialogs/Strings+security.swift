import EncryptionLink
import JSON
import PageWidgets

/// What is said of verifications.
extension Strings {
  /// In the language of the page, by the specification's own list of names. Spec: Client-Server API, "SAS method: emoji".
  static func name(of emoji: EncryptionReport.Emoji) -> String {
    let names = Array(self[.sasNames].utf8).split(separator: UInt8(ascii: ","))
    guard Int(emoji.number) < names.count else { return emoji.name.string }
    return String(decoding: names[Int(emoji.number)].drop { $0 == 0x20 }, as: UTF8.self)
  }

  /// What an ended verification means, and what to do.
  static func words(for reason: EncryptionReport.CancelReason, isByUs: Bool) -> String {
    switch reason {
    case .user: self[isByUs ? .stopped : .verifyCancelled]
    case .timeout: self[.verifyTimedOut]
    case .accepted: self[.verifyElsewhere]
    case .mismatchedSAS, .keyMismatch, .mismatchedCommitment: self[.verifyMismatch]
    case .unknownMethod: self[.verifyNoWay]
    case .unknownTransaction, .unexpectedMessage, .userMismatch, .invalidMessage, .other: self[.verifyFailed]
    }
  }

  package static func words(for failure: EncryptionReport.Failure) -> String {
    switch failure {
    case .unreachable: self[.noAnswer]
    case .unverified: self[.browserUnverified]
    case .incomplete, .noBackup: self[.recoveryMissing]
    case .wrongKey: self[.wrongRecoveryKey]
    case .refused: self[.encryptionRefused]
    case .unusable, .notAKeyFile, .keyFileCutOff, .newerKeyFile, .keyFileTooLarge: self[.verifyFailed]
    }
  }
}
