import JSON
import MatrixModel
import ServerAccounts

/// A registered application service with its namespaces ready to be asked.
package final class AppService: Sendable {
  package struct Namespace: Sendable {
    let isExclusive: Bool
    let pattern: NamespacePattern
  }

  package let registration: AppServiceRegistration
  /// The user it acts as where it names none.
  package let sender: UserID
  let token: AccessTokenHash
  private let users: [Namespace]
  private let aliases: [Namespace]
  private let rooms: [Namespace]

  package var id: ByteString { registration.id }

  /// Throws `AppServiceError` with a sentence for the operator.
  init(_ registration: AppServiceRegistration, server: ServerName) throws(AppServiceError) {
    self.registration = registration
    func error(_ problem: String) -> AppServiceError {
      AppServiceError(message: "the application service \(registration.id): \(problem)")
    }
    guard !registration.id.isEmpty, registration.id.count <= 255 else { throw error("its id has 1 to 255 bytes") }
    guard registration.serviceToken.utf8.count >= Self.tokenBytesMinimum else {
      throw error("its as_token has at least \(Self.tokenBytesMinimum) bytes")
    }
    guard registration.serverToken.utf8.count >= Self.tokenBytesMinimum,
      registration.serverToken.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { throw error("its hs_token has at least \(Self.tokenBytesMinimum) bytes of ASCII without spaces") }
    if let url = registration.url, !url.hasPrefix("http://"), !url.hasPrefix("https://") {
      throw error("its url is http, https or null")
    }
    guard UserID.isAllowedLocalpart(registration.senderLocalpart),
      let sender = UserID(localpart: registration.senderLocalpart, server: server)
    else { throw error("its sender_localpart is no localpart") }
    self.sender = sender
    token = AccessTokenHash(of: Array(registration.serviceToken.utf8)[...])
    func compiled(_ list: [AppServiceRegistration.Namespace], _ name: String) throws(AppServiceError) -> [Namespace] {
      var namespaces: [Namespace] = []
      for namespace in list {
        guard let pattern = NamespacePattern(namespace.expression) else {
          throw error("its namespace '\(namespace.expression)' in \(name) is no regular expression of at most 1000 bytes")
        }
        namespaces.append(Namespace(isExclusive: namespace.isExclusive, pattern: pattern))
      }
      return namespaces
    }
    users = try compiled(registration.users, "users")
    aliases = try compiled(registration.aliases, "aliases")
    rooms = try compiled(registration.rooms, "rooms")
  }

  /// Bytes of a token: what is shorter was never random.
  static let tokenBytesMinimum = 8

  // MARK: Namespaces

  /// Whether a user of this server is the service's: its sender or in a namespace.
  package func covers(_ user: UserID) -> Bool {
    user == sender || (user.serverName == sender.serverName && users.contains { $0.pattern.matches(user.text) })
  }

  package func covers(_ alias: RoomAlias) -> Bool { aliases.contains { $0.pattern.matches(alias.text) } }

  func covers(_ room: RoomID) -> Bool { rooms.contains { $0.pattern.matches(room.text) } }

  /// Whether nobody else may have such a user.
  func owns(_ user: UserID) -> Bool {
    user == sender
      || (user.serverName == sender.serverName && users.contains { $0.isExclusive && $0.pattern.matches(user.text) })
  }

  /// Whether nobody else may have such an alias.
  package func owns(_ alias: RoomAlias) -> Bool { aliases.contains { $0.isExclusive && $0.pattern.matches(alias.text) } }

  var hasAliasNamespaces: Bool { !aliases.isEmpty }
  var hasNamespacesOfRooms: Bool { !rooms.isEmpty || hasAliasNamespaces }

  /// Whether requests that it makes as `user` are held to the rate limits.
  package func isRateLimited(as user: UserID) -> Bool { user != sender && registration.isRateLimited }
}

/// Why an application service cannot be registered.
package struct AppServiceError: Error, CustomStringConvertible {
  package let message: String
  package var description: String { message }
}
