import Database
import JSON
import MatrixModel
import ServerAccounts

/// What a user has set for a room, carried over to the room that replaces it: tags, the push rule, the place in `m.direct`.
///
/// What they have set for the new one already stays. Spec: Client-Server API, "Room Upgrades", "Server behaviour".
package struct RoomSettings: Sendable {
  let accountData: AccountData
  let pushRules: PushRules

  package init(accountData: AccountData, pushRules: PushRules) {
    self.accountData = accountData
    self.pushRules = pushRules
  }

  func carry(of user: UserID, from old: RoomID, to new: RoomID, in transaction: WriteTransaction) throws {
    try carryTags(of: user, from: old, to: new, in: transaction)
    try carryPushRule(of: user, from: old, to: new, in: transaction)
    try carryDirect(of: user, from: old, to: new, in: transaction)
  }

  private func carryTags(of user: UserID, from old: RoomID, to new: RoomID, in transaction: WriteTransaction) throws {
    guard let tags = try AccountData.content(transaction, of: .tag, user, in: old),
      try AccountData.content(transaction, of: .tag, user, in: new) == nil
    else { return }
    try accountData.store(transaction, .tag, tags, of: user, in: new)
  }

  private func carryPushRule(of user: UserID, from old: RoomID, to new: RoomID, in transaction: WriteTransaction) throws {
    let rules = try pushRules.rules(transaction, of: user)
    guard let rule = rules.rule(.room, old.text), rules.rule(.room, new.text) == nil else { return }
    try pushRules.change(user, in: transaction) { rules in
      try rules.put(PushRule(.room, ruleID: new.text, isEnabled: rule.isEnabled, actions: rule.actions), .room)
    }
  }

  private func carryDirect(of user: UserID, from old: RoomID, to new: RoomID, in transaction: WriteTransaction) throws {
    guard let content = try AccountData.content(transaction, of: .direct, user, in: nil) else { return }
    let direct = try JSON.parse(content)
    var isChanged = false
    let changed = try JSON.object { writer in
      for member in direct.members {
        writer.key(member.key)
        let rooms = member.value.elements.compactMap(\.text)
        guard rooms.contains(old.text), !rooms.contains(new.text) else {
          writer.write(member.value)
          continue
        }
        isChanged = true
        writer.array { writer in for room in rooms + [new.text] { writer.write(room) } }
      }
    }
    if isChanged { try accountData.store(transaction, .direct, Array(changed.bytes), of: user, in: nil) }
  }
}
