import Encryption
public import JSON
public import MatrixModel

/// A verification: two people, or two devices of a user, make sure that each has the other's real keys.
///
/// A value that says how far it is. `MatrixEncryption.changes(of:)` has the next ones. Spec: Client-Server API, "Device verification".
public struct KeyVerification: Equatable, Identifiable, Sendable {
  public enum Stage: Equatable, Sendable {
    /// The other side has to accept, or the user if the other side asked.
    case requested
    /// Both take part. The user begins to compare, shows the code or scans the other's, unless the other side does.
    case ready(Choices)
    /// Emoji were chosen. The devices exchange keys.
    case agreeing
    /// The user compares, and says `confirm` or `mismatch`.
    case comparing(ShortStrings)
    /// The other side has scanned this side's code. The user looks whether it shows success, and says `confirm` or `mismatch`.
    case scanned
    /// The user has confirmed or scanned. The other side has not confirmed yet.
    case confirmed
    case done
    /// - byUs: whether this device has ended it, also because it took too long.
    case cancelled(CancelReason, byUs: Bool)
  }

  /// What both sides can do.
  public struct Choices: Equatable, Sendable {
    /// Both can compare emoji or numbers.
    public let canCompare: Bool
    /// The bytes of a QR code that the other side can scan, as one segment in byte mode. nil if it cannot.
    public let code: [UInt8]?
    /// The other side shows a QR code. Its bytes are for `scanned`.
    public let canScan: Bool
  }

  /// What both sides show.
  public struct ShortStrings: Equatable, Sendable {
    /// Seven. Empty if the other side cannot show emoji.
    public let emoji: [Emoji]
    /// Three numbers from 1,000 to 9,191.
    public let decimals: [Int]
  }

  /// Spec: Client-Server API, "SAS method: emoji".
  public struct Emoji: Equatable, Sendable {
    /// From 0 to 63. The specification has names for it in many languages.
    public let number: Int
    public let symbol: ByteString
    /// In English.
    public let name: ByteString
  }

  public enum CancelReason: Equatable, Sendable {
    /// One of the users has cancelled or declined.
    case user
    /// Nobody answered for two minutes, or it took more than ten.
    case timeout
    /// Another device of the user has accepted.
    case acceptedElsewhere
    /// The users say that their sides show different things: somebody may be in between.
    case mismatch
    /// The keys are not those that were expected: somebody may be in between.
    case wrongKeys
    /// The two clients do not understand each other.
    case incompatible
  }

  /// A number of this client, until it ends.
  public let id: UInt64
  /// The other side; the own user between the user's devices.
  public let user: UserID
  /// The other device. nil until one has accepted.
  public let device: DeviceID?
  /// The room of the messages; nil between the user's devices.
  public let room: RoomID?
  /// Whether this device has asked for it.
  public let isOurs: Bool
  /// When it times out if nothing happens: milliseconds since 1970.
  public let deadline: Int64
  public let stage: Stage

  /// Whether both are devices of the user.
  public var isOwn: Bool { room == nil }

  public var isOver: Bool {
    switch stage {
    case .done, .cancelled: true
    default: false
    }
  }
}

extension KeyVerification {
  init(_ view: Verification) {
    id = view.id
    user = view.user
    device = view.device
    room = view.room
    isOurs = view.isOurs
    deadline = view.deadline
    stage = Stage(view.stage)
  }
}

extension KeyVerification.Stage {
  fileprivate init(_ stage: Verification.Stage) {
    switch stage {
    case .requested: self = .requested
    case .ready(let choices):
      self = .ready(
        KeyVerification.Choices(canCompare: choices.canCompare, code: choices.code, canScan: choices.canScan))
    case .agreeing: self = .agreeing
    case .comparing(let strings):
      let emoji = strings.emoji.compactMap { VerificationEmoji($0) }.map {
        KeyVerification.Emoji(number: Int($0.number), symbol: $0.symbol, name: $0.name)
      }
      self = .comparing(KeyVerification.ShortStrings(emoji: emoji, decimals: strings.decimals.map { Int($0) }))
    case .scanned: self = .scanned
    case .confirmed: self = .confirmed
    case .done: self = .done
    case .cancelled(let cancellation):
      self = .cancelled(KeyVerification.CancelReason(cancellation.reason), byUs: cancellation.isByUs)
    }
  }
}

extension KeyVerification.CancelReason {
  fileprivate init(_ reason: CancelReason) {
    switch reason {
    case .user, .other: self = .user
    case .timeout: self = .timeout
    case .accepted: self = .acceptedElsewhere
    case .mismatchedSAS: self = .mismatch
    case .keyMismatch, .userMismatch, .mismatchedCommitment: self = .wrongKeys
    case .unknownTransaction, .unknownMethod, .unexpectedMessage, .invalidMessage: self = .incompatible
    }
  }
}
