import Database
import JSON
import MatrixModel

/// What an operator decides about invite links.
package struct InviteLinkRules: Sendable, Equatable {
  package enum Makers: String, Sendable, CaseIterable {
    case nobody, administrators, everybody

    /// Whether the user is one of them. Guests never are.
    package func include(_ standing: AccountStanding) -> Bool {
      switch self {
      case .nobody: false
      case .administrators: standing.isAdmin
      case .everybody: !standing.isGuest
      }
    }
  }

  /// Who can make links.
  package var makers = Makers.everybody
  /// Whose links also let their holders create an account, if registration is not open.
  package var registrars = Makers.administrators
  /// Links of one user that are valid at once; administrators have no limit.
  package var perUser = 20
  /// Users that one link lets in; links of administrators may let in `InviteLinks.usesLimit`.
  package var usesPerLink = 100
  /// The longest life of a link.
  package var longestDays = 30

  package init() {}

  package var longestMilliseconds: Int64 { Int64(longestDays) * 24 * 60 * 60 * 1_000 }
}

/// A link as its inviter and administrators see it: without its token, which only the answer to its creation has.
package struct InviteLink: Sendable, Equatable {
  /// Names the link; it does not let anybody in.
  package let id: ByteString
  package let inviter: UserID
  /// nil for a link to the inviter.
  package let roomID: RoomID?
  /// Milliseconds since 1970.
  package let created: Int64
  package let expires: Int64
  package let usesAllowed: Int64
  package let uses: Int64

  /// From `link_id, inviter, room_id, created, expires, uses_allowed, uses`.
  init(_ row: Row) {
    id = ByteString(row.text(0))
    inviter = row.identifier(1)
    roomID = row.optionalText(2).map { RoomID(trusted: ByteString($0)) }
    created = row.integer(3)
    expires = row.integer(4)
    usesAllowed = row.integer(5)
    uses = row.integer(6)
  }
}
