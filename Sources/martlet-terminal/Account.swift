import MatrixClient
import MatrixModel

/// An account that a subcommand works with. Where another process has its store (`read --follow` in another window), this one goes on
/// in memory with the same session, but without its keys: encrypted rooms are for the one with the store.
struct Account: Sendable {
  let client: MatrixClient
  let folder: AccountFolder
  private let lock: FolderLock?
  private let keeper: Task<Void, Never>?

  /// Whether the store is this process's.
  var hasStore: Bool { lock != nil }

  static func open(_ folder: AccountFolder) async throws -> Account {
    guard let saved = folder.session else {
      throw TerminalError.notLoggedIn("\(folder.userID) is not logged in; martlet login \(folder.userID)")
    }
    guard let lock = try folder.lock() else {
      let client = try await MatrixClient.restore(saved.withoutRefresh, encrypts: false)
      return Account(client: client, folder: folder, lock: nil, keeper: nil)
    }
    let store: SQLiteStore
    do throws(StoreError) { store = try SQLiteStore(path: folder.storePath) } catch {
      throw TerminalError.failed("the store \(folder.storePath) cannot be opened: \(error)")
    }
    let client = try await MatrixClient.restore(saved.session, store: store)
    let keeper = Task { await keepSession(of: client, in: folder, from: saved.session) }
    return Account(client: client, folder: folder, lock: lock, keeper: keeper)
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
    keeper?.cancel()
    await keeper?.value
    if hasStore, let session = await client.session, session.accessToken != folder.session?.session.accessToken {
      try? folder.save(session)
    }
    await client.stop()
    withExtendedLifetime(lock) {}
  }
}
