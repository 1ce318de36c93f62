import JSON
import MatrixModel

/// What the user keeps on the server, of the account and by room.
struct AccountDataStream {
  private(set) var ofAccount: [AccountData.Entry] = []
  private(set) var ofRooms: [RoomID: [AccountData.Entry]] = [:]

  /// Reads rows only where there may be news.
  static func changes(_ context: SyncContext) throws -> AccountDataStream {
    var stream = AccountDataStream()
    guard context.hasOwnNews else { return stream }
    let transaction = try context.rows.transaction()
    var hasPushRules = context.from != nil
    for entry in try AccountData.changes(
      transaction, of: context.user, after: context.since, upTo: context.to.position)
    {
      var entry = entry
      if let roomID = entry.roomID {
        let filter = context.filter.roomAccountData
        if filter.matches(room: roomID), filter.matches(type: entry.type, sender: nil, content: nil) {
          stream.ofRooms[roomID, default: []].append(entry)
        }
        continue
      }
      if entry.type == .pushRules {
        hasPushRules = true
        entry = AccountData.Entry(
          roomID: nil, type: .pushRules, content: try context.sources.pushRules.content(transaction, of: context.user))
      }
      stream.append(entry, context.filter.accountData)
    }
    // An account from before a default rule was there has rules all the same.
    if !hasPushRules {
      let content = try context.sources.pushRules.content(transaction, of: context.user)
      stream.append(AccountData.Entry(roomID: nil, type: .pushRules, content: content), context.filter.accountData)
    }
    return stream
  }

  private mutating func append(_ entry: AccountData.Entry, _ filter: EventFilter) {
    if filter.matches(type: entry.type, sender: nil, content: nil) { ofAccount.append(entry) }
  }
}

extension AccountSummary {
  /// Reads what every sync of the user needs. `readAt` is the position up to which the rows are complete.
  static func read(of user: UserID, _ rows: SyncRows) throws -> AccountSummary {
    let transaction = try rows.transaction()
    var ignored: Set<UserID> = []
    if let content = try AccountData.content(transaction, of: .ignoredUserList, user, in: nil),
      let users = try JSON.parse(content)["ignored_users"]
    {
      for member in users.members { if let user = UserID(member.key) { ignored.insert(user) } }
    }
    let rules = try transaction.first(
      "SELECT position FROM account_data WHERE user_id = $1 AND room_id = '' AND type = $2", user, EventType.pushRules
    ) { $0.integer(0) }
    return AccountSummary(
      readAt: rows.completeUpTo, ignored: ignored,
      blocksInvitations: try Rooms.blocksInvitations(user, in: transaction), pushRulesPosition: rules ?? 0)
  }
}
