import MatrixClient
import MatrixModel

/// An account that a subcommand works with. Where another process has its store (`read --follow` in another window) and does not do the
/// work for this one (`AccountHost`), this one goes on in memory with the same session, but without its keys.
struct Account: Sendable {
  let client: MatrixClient
  let folder: AccountFolder
  /// Whether the store is this process's.
  let hasStore: Bool
  private let lock: FolderLock?
  private let keeper: Task<Void, Never>?
  private let host: AccountHost?

  private init(_ client: MatrixClient, _ folder: AccountFolder, lock: FolderLock?, keeper: Task<Void, Never>?) {
    self.client = client
    self.folder = folder
    self.lock = lock
    self.keeper = keeper
    hasStore = lock != nil
    host = lock == nil ? nil : AccountHost(client, of: folder)
  }

  /// For the commands of other processes, by one that has opened the account.
  init(hosted client: MatrixClient, _ folder: AccountFolder) {
    (self.client, self.folder, hasStore) = (client, folder, true)
    (lock, keeper, host) = (nil, nil, nil)
  }

  /// - Parameter lock: of the store, if this process has it already.
  static func open(_ folder: AccountFolder, _ lock: FolderLock? = nil) async throws -> Account {
    guard let saved = folder.session else {
      throw TerminalError.notLoggedIn("\(folder.userID) is not logged in; martlet login \(folder.userID)")
    }
    guard let lock = try lock ?? folder.lock() else {
      let client = try await MatrixClient.restore(saved.withoutRefresh, encrypts: false)
      return Account(client, folder, lock: nil, keeper: nil)
    }
    let store: SQLiteStore
    do throws(StoreError) { store = try SQLiteStore(path: folder.storePath) } catch {
      throw TerminalError.failed("the store \(folder.storePath) cannot be opened: \(error)")
    }
    let client = try await MatrixClient.restore(saved.session, store: store)
    let keeper = Task { await keepSession(of: client, in: folder, from: saved.session) }
    return Account(client, folder, lock: lock, keeper: keeper)
  }

  /// Writes refreshed tokens where processes beside this one find them.
  private static func keepSession(of client: MatrixClient, in folder: AccountFolder, from saved: Session) async {
    var saved = saved
    for await _ in await client.sessionStates() {
      guard let session = await client.session, session.accessToken != saved.accessToken else { continue }
      try? folder.save(session)
      saved = session
    }
  }

  func close() async {
    await host?.close()
    keeper?.cancel()
    await keeper?.value
    if hasStore, let session = await client.session, session.accessToken != folder.session?.session.accessToken {
      try? folder.save(session)
    }
    await client.stop()
    withExtendedLifetime(lock) {}
  }
}
