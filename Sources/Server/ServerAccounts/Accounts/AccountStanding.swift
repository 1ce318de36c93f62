import MatrixModel

/// What kind of account it is and what its administrators decided about it: what every request of it depends on.
package struct AccountStanding: Sendable, Equatable {
  /// Spec: Client-Server API, "Guest Access".
  package var isGuest = false
  /// Whether it may call what is for administrators.
  package var isAdmin = false
  /// Spec: Client-Server API, "Account locking".
  package var isLocked = false
  /// Spec: Client-Server API, "Account suspension".
  package var isSuspended = false
  /// Whether what it sends to others goes nowhere, while it is answered as if it did not.
  package var isShadowBanned = false
  /// Milliseconds since 1970 from which on it cannot be used; nil for ever.
  package var validUntil: Int64?

  package init() {}

  /// Throws `M_USER_LOCKED` and `ORG_MATRIX_EXPIRED_ACCOUNT`: nothing but logging out is possible.
  package func requireUse(at now: Int64) throws(MatrixError) {
    if isLocked { throw .userLocked() }
    if let validUntil, now >= validUntil {
      throw MatrixError(
        status: 403, .expiredAccount, "This account has expired; ask the server's administrators to renew it.")
    }
  }
}

/// Which sessions an endpoint lets in.
package struct Admission: Sendable {
  private let isForAdministrators: Bool
  private let isLogout: Bool
  private let isOpenToGuests: Bool
  private let isClosedToSuspended: Bool

  package init(to endpoint: Endpoint) {
    isForAdministrators = endpoint.access == .administrator
    isLogout = endpoint.isLogout
    isOpenToGuests = endpoint.isOpenToGuests
    isClosedToSuspended = endpoint.isClosedToSuspended
  }

  /// What only administrators may call.
  package static let administrators = Admission()

  private init() {
    (isForAdministrators, isLogout, isOpenToGuests, isClosedToSuspended) = (true, false, false, false)
  }

  /// Returns for who may go on. Throws `M_USER_LOCKED` and `ORG_MATRIX_EXPIRED_ACCOUNT` (but for logging out),
  /// `M_GUEST_ACCESS_FORBIDDEN`, `M_USER_SUSPENDED`, `M_FORBIDDEN` for what is for administrators.
  package func check(_ session: Session, at now: Int64) throws(MatrixError) {
    let standing = session.standing
    if !isLogout { try standing.requireUse(at: now) }
    if standing.isGuest, !isOpenToGuests { throw .guestAccessForbidden() }
    if standing.isSuspended, isClosedToSuspended { throw .userSuspended() }
    guard standing.isAdmin || !isForAdministrators else {
      throw .forbidden("Only administrators of this server may do this.")
    }
  }
}
