import Database
import JSON
import MatrixModel
import ServerAccounts
import ServerRooms

/// What the user keeps on the server, of the account and by room.
struct AccountDataStream {
  private(set) var ofAccount: [AccountData.Entry] = []
  private(set) var ofRooms: [RoomID: [AccountData.Entry]] = [:]

  /// Reads rows only where there may be news.
  static func changes(_ context: SyncContext) throws -> AccountDataStream {
    guard context.hasOwnNews else { return AccountDataStream() }
    let entries = try AccountData.changes(
      try context.rows.transaction(), of: context.user, after: context.since, upTo: context.to.position)
    return try AccountDataStream(entries, isWhole: context.from == nil, context)
  }

  /// All there is of the account, and nothing of rooms.
  static func ofAccount(_ context: SyncContext) throws -> AccountDataStream {
    let entries = try AccountData.all(try context.rows.transaction(), of: context.user, in: nil)
    return try AccountDataStream(entries, isWhole: true, context)
  }

  private init() {}

  private init(_ entries: [AccountData.Entry], isWhole: Bool, _ context: SyncContext) throws {
    let transaction = try context.rows.transaction()
    var hasPushRules = !isWhole
    for entry in entries {
      var entry = entry
      if let roomID = entry.roomID {
        let filter = context.filter.roomAccountData
        if filter.matches(room: roomID), filter.matches(type: entry.type, sender: nil, content: nil) {
          ofRooms[roomID, default: []].append(entry)
        }
        continue
      }
      if entry.type == .pushRules {
        hasPushRules = true
        entry = AccountData.Entry(
          roomID: nil, type: .pushRules, content: try context.sources.pushRules.content(transaction, of: context.user))
      }
      append(entry, context.filter.accountData)
    }
    // An account from before a default rule was there has rules all the same.
    if !hasPushRules {
      let content = try context.sources.pushRules.content(transaction, of: context.user)
      append(AccountData.Entry(roomID: nil, type: .pushRules, content: content), context.filter.accountData)
    }
  }

  private mutating func append(_ entry: AccountData.Entry, _ filter: EventFilter) {
    if filter.matches(type: entry.type, sender: nil, content: nil) { ofAccount.append(entry) }
  }
}

extension AccountSummary {
  /// Reads what every sync of the user needs. `readAt` is the position up to which the rows are complete.
  package static func read(of user: UserID, _ rows: SyncRows) throws -> AccountSummary {
    let transaction = try rows.transaction()
    return try read(of: user, transaction, readAt: rows.completeUpTo)
  }

  package static func read(of user: UserID, _ transaction: ReadTransaction, readAt: Int64) throws -> AccountSummary {
    let rules = try transaction.first(
      "SELECT MAX(position) FROM account_data WHERE user_id = $1 AND room_id = '' AND type IN ($2, $3)", user,
      EventType.pushRules, EventType.ignoredUserList
    ) { $0.integer(0) }
    return AccountSummary(
      readAt: readAt, ignored: try IgnoredUsers.of(user, in: transaction),
      blocksInvitations: try Rooms.blocksInvitations(user, in: transaction), rulesPosition: rules ?? 0)
  }
}
