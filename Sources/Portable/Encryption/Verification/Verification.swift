import JSON
import MatrixModel

/// A verification, as views show it: two people, or two devices of a person, make sure that each has the other's real keys.
/// Spec: Client-Server API, "Device verification".
package struct Verification: Equatable, Sendable {
  /// The number of a verification in a machine, until the machine ends.
  package typealias ID = UInt64

  /// What both sides can do.
  package struct Choices: Equatable, Sendable {
    /// Both can compare emoji or numbers.
    package let canCompare: Bool
    /// The bytes of the QR code that the other side can scan: one segment in byte mode. nil if it cannot.
    package let code: [UInt8]?
    /// The other side shows a code.
    package let canScan: Bool

    package init(canCompare: Bool, code: [UInt8]?, canScan: Bool) {
      self.canCompare = canCompare
      self.code = code
      self.canScan = canScan
    }
  }

  /// What both sides show, and people compare.
  package struct ShortStrings: Equatable, Sendable {
    /// Seven numbers from 0 to 63, for `VerificationEmoji`. Empty if the other side cannot show emoji.
    package let emoji: [UInt8]
    /// Three numbers from 1,000 to 9,191.
    package let decimals: [UInt16]

    package init(emoji: [UInt8], decimals: [UInt16]) {
      self.emoji = emoji
      self.decimals = decimals
    }
  }

  package enum Stage: Equatable, Sendable {
    /// Somebody has to accept: the other side if this one began, else the user (`VerificationStep.accept`).
    case requested
    /// Both take part. The user chooses, or the other side does.
    case ready(Choices)
    /// Emoji were chosen. The devices agree on what to show.
    case agreeing
    /// The user compares, and says `confirm` or `mismatch`.
    case comparing(ShortStrings)
    /// The other side has scanned the code of this one. The user looks whether it shows success, and says `confirm` or `mismatch`.
    case scanned
    /// The user has confirmed or scanned. The other side has not yet.
    case confirmed
    /// The keys of the other side are verified.
    case done
    case cancelled(Cancellation)
  }

  package struct Cancellation: Equatable, Sendable {
    package let reason: CancelReason
    /// Whether this device has cancelled. Another device of the user counts as the other side.
    package let isByUs: Bool

    package init(_ reason: CancelReason, isByUs: Bool) {
      self.reason = reason
      self.isByUs = isByUs
    }
  }

  package let id: ID
  /// The other side; the own user between the user's devices.
  package let user: UserID
  /// The other device. nil until one has accepted.
  package internal(set) var device: DeviceID?
  /// Where the messages are sent; nil between the user's devices.
  package let room: RoomID?
  /// Whether both are devices of the own user.
  package let isOwn: Bool
  /// Whether this device has asked for it.
  package let isOurs: Bool
  /// When it times out unless something happens: milliseconds since 1970.
  package internal(set) var deadline: Int64
  package internal(set) var stage: Stage

  package init(
    id: ID, user: UserID, device: DeviceID?, room: RoomID?, isOwn: Bool, isOurs: Bool, deadline: Int64, stage: Stage
  ) {
    self.id = id
    self.user = user
    self.device = device
    self.room = room
    self.isOwn = isOwn
    self.isOurs = isOurs
    self.deadline = deadline
    self.stage = stage
  }

  package var isOver: Bool {
    switch stage {
    case .done, .cancelled: true
    default: false
    }
  }
}

/// With whom to begin a verification.
package enum VerificationTarget: Equatable, Sendable {
  /// All other devices of the user. The first that accepts takes part.
  case ownDevices
  case ownDevice(DeviceID)
  /// Another user, by messages in a room with them, which should be a direct one.
  case user(UserID, in: RoomID)
}

/// What a user does in a verification. A step that does not fit the stage ends with `EncryptionFailure.unusable` and changes nothing.
package enum VerificationStep: Equatable, Sendable {
  /// Of a request by the other side.
  case accept
  /// Begins to compare emoji or numbers.
  case compare
  /// What a QR code has that the other side shows: the bytes of its segment.
  case scanned([UInt8])
  /// Both sides show the same, or the other device says that it has scanned the code.
  case confirm
  /// The sides show different things.
  case mismatch
  /// Ends it, or declines the request. One that is over is forgotten.
  case cancel
}

/// Why a verification has ended without a result. The names are the standard's codes without `m.`.
package enum CancelReason: UInt8, Error, CaseIterable, Sendable {
  case user, timeout, unknownTransaction, unknownMethod, unexpectedMessage
  /// The keys are not those that this side knows: somebody may be in between.
  case keyMismatch
  case userMismatch, invalidMessage
  /// Another device of the user has accepted.
  case accepted
  /// Somebody has tried to choose what both sides show.
  case mismatchedCommitment
  /// The user said that the sides show different things.
  case mismatchedSAS
  /// One that the standard does not know.
  case other
}
