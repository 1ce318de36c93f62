import Database
import JSON
import MatrixModel
import ServerAccounts

extension Accounts {
  /// Makes an account for an application service, asking nobody. Spec: Application Service API, "Server admin style permissions".
  ///
  /// Throws `M_EXCLUSIVE` outside its namespaces, `M_INVALID_USERNAME`, `M_USER_IN_USE`, `M_MISSING_PARAM`.
  package func register(
    _ request: RegistrationRequest, by service: AppService, _ services: AppServices
  ) async throws -> (userID: UserID, login: Login?) {
    guard let localpart = request.username else { throw MatrixError.missingParameter("username") }
    if let userID = UserID(localpart: localpart, server: configuration.serverName) {
      try services.requireMay(make: userID, service)
    }
    var new = NewAccount(localpart)
    new.appService = service.id
    return try await create(new, password: nil, device: request.inhibitsLogin ?? false ? nil : request.device)
  }

  /// Lets an application service in as one of its users. Throws `M_EXCLUSIVE`, `M_FORBIDDEN`, `M_USER_DEACTIVATED`.
  package func logIn(
    _ user: UserIdentifier, by service: AppService, device: DeviceRequest
  ) async throws -> (userID: UserID, login: Login) {
    guard let userID = user.userID(on: configuration.serverName), service.covers(userID) else {
      throw MatrixError(
        status: 400, .exclusive, "\(user.name) is outside of the application service's namespaces.")
    }
    let login = try await database.write { [self] tx in
      guard let account = try Self.account(tx, userID) else {
        throw MatrixError.forbidden("\(userID) does not exist; register it first.")
      }
      guard !account.isDeactivated else {
        throw MatrixError(status: 403, .userDeactivated, "This account has been deactivated.")
      }
      try account.standing.requireUse(at: configuration.clock.now())
      return try devices.logIn(tx, userID, device, sessions)
    }
    return (userID, login)
  }

  /// Makes the accounts of services' senders that are not there yet. Blocks: for starting up.
  package func makeSenders(of services: AppServices) throws {
    for service in services.all {
      try database.writeBlocking { [self] tx in
        guard try Self.account(tx, service.sender) == nil else { return }
        var new = NewAccount(service.registration.senderLocalpart)
        new.appService = service.id
        try create(tx, new, service.sender, passwordHash: nil)
      }
    }
  }
}
