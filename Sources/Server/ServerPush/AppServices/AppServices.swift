import JSON
import MatrixModel
import ServerAccounts
import ServerCore
import ServerRooms

/// The application services of this server and what they have reserved.
///
/// Spec: Application Service API.
package final class AppServices: Sendable {
  package let all: [AppService]
  /// Of the services that have a URL.
  let inboxes: [AppServiceInbox]
  private let byToken: [AccessTokenHash: AppService]

  /// Throws `AppServiceError` for a registration that is wrong or like another.
  package init(_ registrations: [AppServiceRegistration], server: ServerName) throws(AppServiceError) {
    var services: [AppService] = []
    var byToken: [AccessTokenHash: AppService] = [:]
    for registration in registrations {
      let service = try AppService(registration, server: server)
      if let other = services.first(where: { $0.id == service.id }) {
        throw AppServiceError(message: "two application services have the id \(other.id)")
      }
      if let other = services.first(where: { $0.registration.serverToken == registration.serverToken }) {
        throw AppServiceError(message: "the application services \(other.id) and \(service.id) have the same hs_token")
      }
      if let other = services.first(where: { $0.sender == service.sender }) {
        throw AppServiceError(
          message: "the application services \(other.id) and \(service.id) have the same sender_localpart")
      }
      if let other = byToken.updateValue(service, forKey: service.token) {
        throw AppServiceError(message: "the application services \(other.id) and \(service.id) have the same as_token")
      }
      services.append(service)
    }
    all = services
    inboxes = services.filter { $0.registration.url != nil }.map { AppServiceInbox($0) }
    self.byToken = byToken
  }

  package subscript(_ id: ByteString) -> AppService? { all.first { $0.id == id } }

  /// The service that a token belongs to. Tokens are compared as hashes: the time it takes says nothing of them.
  package func service(_ token: AccessTokenHash) -> AppService? { byToken.isEmpty ? nil : byToken[token] }

  // MARK: Reservations

  /// Throws `M_EXCLUSIVE` for a user that only another may make: a person none that a service has reserved, a service none
  /// outside its namespaces.
  package func requireMay(make user: UserID, _ service: AppService?) throws(MatrixError) {
    if let service, !service.covers(user) { throw Self.outside(user.string) }
    for other in all where other !== service && other.owns(user) { throw Self.reserved(user.string) }
  }

  /// Throws `M_EXCLUSIVE` for an alias that only another may make or delete. A service's users count as the service.
  ///
  /// - Parameter service: that makes the request with its own token.
  package func requireMay(change alias: RoomAlias, _ user: UserID, _ service: AppService?) throws(MatrixError) {
    if let service, !service.covers(alias) { throw Self.outside(alias.string) }
    for other in all where other.owns(alias) && !other.owns(user) && other !== service {
      throw Self.reserved(alias.string)
    }
  }

  private static func reserved(_ name: String) -> MatrixError {
    MatrixError(status: 400, .exclusive, "\(name) is reserved by an application service.")
  }

  private static func outside(_ name: String) -> MatrixError {
    MatrixError(status: 400, .exclusive, "\(name) is outside of the application service's namespaces.")
  }
}

extension AppServices: AccountObserver {
  package func willRegister(_ userID: UserID) throws { try requireMay(make: userID, nil) }
}

extension AppServices: RoomObserver {
  package func published(_ news: Note.RoomNews) {
    for inbox in inboxes { inbox.signal.notify() }
  }

  package func typingChanged(in room: RoomNumber) {
    for inbox in inboxes where inbox.service.registration.receivesEphemeral {
      inbox.ephemeral.noteTyping(in: room)
      inbox.signal.notify()
    }
  }

  package func presenceChanged(of users: Set<UserID>) {
    for inbox in inboxes where inbox.service.registration.receivesEphemeral {
      inbox.ephemeral.notePresence(of: users)
      inbox.signal.notify()
    }
  }

  /// Waits for the next event: the receipt of a message is no reason for a transaction.
  package func received(_ receipt: Receipt, in room: RoomNumber) {
    for inbox in inboxes where inbox.service.registration.receivesEphemeral { inbox.ephemeral.note(receipt, in: room) }
  }
}
