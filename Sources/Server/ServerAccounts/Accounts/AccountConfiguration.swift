import MatrixModel
import ServerCore

/// What an operator decides about accounts.
package struct AccountConfiguration: Sendable {
  package enum Registration: Sendable { case open, token, closed }

  package var serverName: ServerName
  package var registration = Registration.closed
  package var registrationTokens: [String] = []
  package var registrationSharedSecret: String?
  package var inviteLinks = InviteLinkRules()
  package var allowsGuests = false
  /// nil if no app vouches for users.
  package var jsonWebTokens: JSONWebTokenLogin?
  package var profileFields = Profiles.Policy()
  /// Argon2id: memory in bytes and passes.
  package var passwordHashMemoryBytes = 19 << 20
  package var passwordHashIterations = 2
  package var identity = IdentityConfiguration()
  /// The user in whose name the server speaks; nobody can register the name.
  package var noticesUser: UserID
  package var clock = WallClock.system

  package init(serverName: ServerName, noticesUser: UserID) {
    self.serverName = serverName
    self.noticesUser = noticesUser
  }
}
