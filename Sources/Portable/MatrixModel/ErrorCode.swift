import JSON

/// `errcode` of a Matrix error: an open set; an unknown code survives the round trip.
///
/// Spec: Client-Server API, "Standard error response".
public struct ErrorCode: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  public let text: ByteString

  public init(_ text: ByteString) { self.text = text }
  public init(stringLiteral value: StaticString) { text = ByteString(stringLiteral: value) }

  public var description: String { text.string }
}

extension ErrorCode {
  public static let forbidden: ErrorCode = "M_FORBIDDEN"
  public static let unknownToken: ErrorCode = "M_UNKNOWN_TOKEN"
  public static let missingToken: ErrorCode = "M_MISSING_TOKEN"
  public static let userLocked: ErrorCode = "M_USER_LOCKED"
  public static let userSuspended: ErrorCode = "M_USER_SUSPENDED"
  public static let userDeactivated: ErrorCode = "M_USER_DEACTIVATED"
  public static let badJSON: ErrorCode = "M_BAD_JSON"
  public static let notJSON: ErrorCode = "M_NOT_JSON"
  public static let notFound: ErrorCode = "M_NOT_FOUND"
  public static let limitExceeded: ErrorCode = "M_LIMIT_EXCEEDED"
  public static let resourceLimitExceeded: ErrorCode = "M_RESOURCE_LIMIT_EXCEEDED"
  public static let unrecognized: ErrorCode = "M_UNRECOGNIZED"
  public static let unknown: ErrorCode = "M_UNKNOWN"
  public static let unknownDevice: ErrorCode = "M_UNKNOWN_DEVICE"
  public static let unauthorized: ErrorCode = "M_UNAUTHORIZED"
  public static let userInUse: ErrorCode = "M_USER_IN_USE"
  public static let invalidUsername: ErrorCode = "M_INVALID_USERNAME"
  public static let exclusive: ErrorCode = "M_EXCLUSIVE"
  public static let weakPassword: ErrorCode = "M_WEAK_PASSWORD"
  public static let roomInUse: ErrorCode = "M_ROOM_IN_USE"
  public static let invalidRoomState: ErrorCode = "M_INVALID_ROOM_STATE"
  public static let unsupportedRoomVersion: ErrorCode = "M_UNSUPPORTED_ROOM_VERSION"
  public static let incompatibleRoomVersion: ErrorCode = "M_INCOMPATIBLE_ROOM_VERSION"
  public static let inviteBlocked: ErrorCode = "M_INVITE_BLOCKED"
  public static let serverNotTrusted: ErrorCode = "M_SERVER_NOT_TRUSTED"
  public static let badState: ErrorCode = "M_BAD_STATE"
  public static let guestAccessForbidden: ErrorCode = "M_GUEST_ACCESS_FORBIDDEN"
  public static let missingParameter: ErrorCode = "M_MISSING_PARAM"
  public static let invalidParameter: ErrorCode = "M_INVALID_PARAM"
  public static let tooLarge: ErrorCode = "M_TOO_LARGE"
  public static let badAlias: ErrorCode = "M_BAD_ALIAS"
  public static let duplicateAnnotation: ErrorCode = "M_DUPLICATE_ANNOTATION"
  public static let notYetUploaded: ErrorCode = "M_NOT_YET_UPLOADED"
  public static let cannotOverwriteMedia: ErrorCode = "M_CANNOT_OVERWRITE_MEDIA"
  public static let unableToAuthoriseJoin: ErrorCode = "M_UNABLE_TO_AUTHORISE_JOIN"
  public static let wrongRoomKeysVersion: ErrorCode = "M_WRONG_ROOM_KEYS_VERSION"
  public static let cannotLeaveServerNoticeRoom: ErrorCode = "M_CANNOT_LEAVE_SERVER_NOTICE_ROOM"
  /// The code that homeservers in use answer for an account whose time has run out.
  public static let expiredAccount: ErrorCode = "ORG_MATRIX_EXPIRED_ACCOUNT"
}
