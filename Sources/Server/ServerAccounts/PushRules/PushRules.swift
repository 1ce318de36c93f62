import Database
import JSON
import MatrixModel
import ServerCore
import Synchronization

/// Everyone's push rules: rows of account data, compiled in memory.
///
/// Spec: Client-Server API, "Push Rules: API".
package final class PushRules: NoteFollower {
  private struct Cache {
    var rules: [UserID: PushRuleSet] = [:]
    /// What commands have made of them that are not committed yet, and how many changes that is.
    var staged: [UserID: (rules: PushRuleSet, changes: Int)] = [:]
    /// Counts changes: rules read before one are not put into the cache after it.
    var changes = 0
  }

  /// Rule sets kept in memory; about 4 KB each.
  private static let cacheLimit = 20_000

  private let cache = Mutex(Cache())
  private let database: Database
  private let accountData: AccountData

  package init(database: Database, accountData: AccountData) {
    self.database = database
    self.accountData = accountData
    database.follow(.rules, by: self)
  }

  /// The rules of a user of this server.
  package func rules(of userID: UserID) async throws -> PushRuleSet {
    if let known = cached(userID) { return known }
    return try await database.read { [self] tx in try rules(tx, of: userID) }
  }

  /// The rules where they are in memory: no wait.
  package func cached(_ userID: UserID) -> PushRuleSet? { cache.withLock { $0.rules[userID] } }

  /// The rules inside a query or command.
  package func rules(_ tx: ReadTransaction, of userID: UserID) throws -> PushRuleSet {
    let changes = cache.withLock { cache in (known: cache.rules[userID], count: cache.changes) }
    if let known = changes.known { return known }
    let rules = try Self.load(tx, userID)
    // A command may see rows that are not committed yet.
    if tx is WriteTransaction { return rules }
    cache.withLock { cache in
      guard cache.changes == changes.count, !tx.isBehind else { return }
      if cache.rules.count >= Self.cacheLimit { cache.rules.removeAll(keepingCapacity: true) }
      cache.rules[userID] = rules
    }
    return rules
  }

  /// The content of `m.push_rules` for sync: default rules this version added are in.
  package func content(_ tx: ReadTransaction, of userID: UserID) throws -> [UInt8] {
    try rules(tx, of: userID).content()
  }

  /// Changes the rules; `change` works on a copy and may throw. Throws `M_TOO_LARGE` where they become too many.
  package func change(_ userID: UserID, _ change: @escaping @Sendable (inout PushRuleSet) throws -> Void) async throws {
    try await database.write { [self] tx in try self.change(userID, in: tx, change) }
  }

  /// Changes the rules inside a command.
  package func change(_ userID: UserID, in tx: WriteTransaction, _ change: (inout PushRuleSet) throws -> Void) throws {
    // Reading a thousand rules from their row costs twice what changing and writing them does.
    let known = cache.withLock { $0.staged[userID]?.rules ?? $0.rules[userID] }
    var rules = try known ?? Self.load(tx, userID)
    try change(&rules)
    try store(rules, of: userID, in: tx)
  }

  /// Writes the default rules of a new account, so that its first sync has them.
  func storeDefaults(_ tx: WriteTransaction, of userID: UserID) throws {
    try store(PushRuleSet(defaultsFor: userID), of: userID, in: tx)
  }

  /// Writes the rules, and shows them to the commands that follow in this batch and, once they are durable, to everyone.
  private func store(_ rules: PushRuleSet, of userID: UserID, in tx: WriteTransaction) throws {
    try accountData.store(tx, .pushRules, rules.content(), of: userID, in: nil)
    let previous = cache.withLock { cache in
      let previous = cache.staged[userID]
      cache.staged[userID] = (rules, (previous?.changes ?? 0) + 1)
      return previous
    }
    tx.onRollback { self.cache.withLock { $0.staged[userID] = previous } }
    tx.note(.rules(userID))
  }

  /// Takes rules out of memory whose row is deleted.
  func forget(_ userID: UserID, in tx: WriteTransaction) { tx.note(.rules(userID)) }

  /// Shows the rules that a command of this node has staged. Those that another node has changed are read again when they are needed.
  package func apply(_ note: Note, _ rows: CommittedRows) {
    guard case .rules(let user) = note else { return }
    cache.withLock { cache in
      cache.changes += 1
      if cache.rules.count >= Self.cacheLimit { cache.rules.removeAll(keepingCapacity: true) }
      let staged = cache.staged.removeValue(forKey: user)
      cache.rules[user] = staged?.rules
      if let staged, staged.changes > 1 { cache.staged[user] = (staged.rules, staged.changes - 1) }
    }
  }

  package func reload(_ rows: CommittedRows) {
    cache.withLock { cache in
      cache.changes += 1
      cache.rules.removeAll()
    }
  }

  private static func load(_ tx: ReadTransaction, _ userID: UserID) throws -> PushRuleSet {
    guard let stored = try AccountData.content(tx, of: .pushRules, userID, in: nil) else {
      return PushRuleSet(defaultsFor: userID)
    }
    return PushRuleSet(try JSON.parse(stored), for: userID)
  }
}
