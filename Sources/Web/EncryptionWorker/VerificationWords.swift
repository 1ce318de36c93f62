import Encryption
import EncryptionLink
import JSON
import MatrixModel

extension VerificationStep {
  init(_ action: VerificationAction) {
    switch action {
    case .accept: self = .accept
    case .compare: self = .compare
    case .scanned(let code): self = .scanned(code)
    case .confirm: self = .confirm
    case .mismatch: self = .mismatch
    case .cancel: self = .cancel
    }
  }
}

extension EncryptionReport.Verification {
  init(_ verification: Verification) {
    self.init(
      id: verification.id, user: verification.user.text, device: verification.device?.text ?? "",
      room: verification.room?.text ?? "", isOwn: verification.isOwn, isOurs: verification.isOurs,
      deadline: verification.deadline, stage: EncryptionReport.Stage(verification.stage))
  }
}

extension EncryptionReport.Stage {
  fileprivate init(_ stage: Verification.Stage) {
    switch stage {
    case .requested: self = .requested
    case .ready(let choices):
      self = .ready(canCompare: choices.canCompare, code: choices.code ?? [], canScan: choices.canScan)
    case .agreeing: self = .agreeing
    case .comparing(let strings):
      let emoji = strings.emoji.compactMap { VerificationEmoji($0) }
      self = .comparing(
        emoji: emoji.map { EncryptionReport.Emoji(number: $0.number, symbol: $0.symbol, name: $0.name) },
        decimals: strings.decimals.map { UInt32($0) })
    case .scanned: self = .scanned
    case .confirmed: self = .confirmed
    case .done: self = .done
    case .cancelled(let cancellation):
      self = .cancelled(EncryptionReport.CancelReason(cancellation.reason), isByUs: cancellation.isByUs)
    }
  }
}

extension EncryptionReport.CancelReason {
  fileprivate init(_ reason: CancelReason) {
    switch reason {
    case .user: self = .user
    case .timeout: self = .timeout
    case .unknownTransaction: self = .unknownTransaction
    case .unknownMethod: self = .unknownMethod
    case .unexpectedMessage: self = .unexpectedMessage
    case .keyMismatch: self = .keyMismatch
    case .userMismatch: self = .userMismatch
    case .invalidMessage: self = .invalidMessage
    case .accepted: self = .accepted
    case .mismatchedCommitment: self = .mismatchedCommitment
    case .mismatchedSAS: self = .mismatchedSAS
    case .other: self = .other
    }
  }
}
