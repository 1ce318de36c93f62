import Database
import MatrixModel
import ServerAccounts
import ServerPush
import ServerRooms

/// The users and aliases of this server, with those that application services make on demand.
struct LocalDirectory: RoomDirectory {
  let database: Database
  let appServices: AppServices
  let queries: AppServiceQueries

  func profile(of user: UserID, in transaction: ReadTransaction) throws -> Profile? {
    guard let account = try Accounts.account(transaction, user), !account.isDeactivated else { return nil }
    return try Profiles.profile(transaction, of: user)
  }

  func isGuest(_ user: UserID, in transaction: ReadTransaction) throws -> Bool {
    try Accounts.account(transaction, user)?.standing.isGuest ?? false
  }

  func provideUser(_ user: UserID) async throws {
    guard appServices.all.contains(where: { $0.covers(user) }),
      try await !database.read({ try Accounts.exists($0, user) })
    else { return }
    _ = try await queries.provide(user)
  }

  func provideRoom(_ alias: RoomAlias) async throws -> Bool { try await queries.provide(alias) }

  func requireMayChange(_ alias: RoomAlias, by actor: Rooms.Actor) throws {
    try appServices.requireMay(change: alias, actor.userID, actor.appService.flatMap { appServices[$0] })
  }

  func isReserved(_ alias: RoomAlias, for actor: Rooms.Actor) -> Bool {
    actor.appService.flatMap { appServices[$0] }?.owns(alias) ?? false
  }
}
