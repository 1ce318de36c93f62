import JSON

/// As the messages have it. Spec: Client-Server API, "m.key.verification.cancel".
extension CancelReason {
  init(code: ByteString) { self = Self.allCases.first { $0.code == code && $0 != .other } ?? .other }

  var code: ByteString {
    switch self {
    case .user: "m.user"
    case .timeout: "m.timeout"
    case .unknownTransaction: "m.unknown_transaction"
    case .unknownMethod: "m.unknown_method"
    case .unexpectedMessage: "m.unexpected_message"
    case .keyMismatch: "m.key_mismatch"
    case .userMismatch: "m.user_mismatch"
    case .invalidMessage: "m.invalid_message"
    case .accepted: "m.accepted"
    case .mismatchedCommitment: "m.mismatched_commitment"
    case .mismatchedSAS: "m.mismatched_sas"
    case .other: "m.user"
    }
  }

  /// In English, for clients that do not know the code.
  var text: ByteString {
    switch self {
    case .user, .other: "The user cancelled the verification."
    case .timeout: "The verification took too long."
    case .unknownTransaction: "This verification is not known here."
    case .unknownMethod: "The devices have no method in common."
    case .unexpectedMessage: "This message was not expected now."
    case .keyMismatch: "The keys are not the expected ones."
    case .userMismatch: "This is another user than expected."
    case .invalidMessage: "The message cannot be read."
    case .accepted: "Another device has accepted the request."
    case .mismatchedCommitment: "The key is not the promised one."
    case .mismatchedSAS: "The emoji or numbers do not match."
    }
  }
}
