import JSON
import MatrixModel

/// What the room's line in the list shows: name, avatar, and the members they come from.
extension RoomState {
  /// Works them out anew. Spec: "Calculating the display name for a room".
  mutating func settleName(for ownUserID: UserID) {
    let others = name == nil ? namingMembers(except: ownUserID) : []
    named = others
    for case let user? in [directUserID, membership == .invite ? inviter : nil, preview?.sender]
    where !named.contains(user) {
      named.append(user)
    }
    let hasOneOther = name == nil && others.count == 1 && joinedCount + invitedCount <= 2
    computedAvatar = avatar ?? (directUserID ?? (hasOneOther ? others.first : nil)).flatMap { members[$0]?.avatar }
    computedName = roomName(others)
  }

  private func roomName(_ others: [UserID]) -> RoomName {
    if let name { return .text(name.inOneLine) }
    if let canonicalAlias { return .text(canonicalAlias.text) }
    if membership == .invite, others.isEmpty, let inviter {
      return .members([members.displayName(of: inviter)], others: 0)
    }
    let names = others.map { members.displayName(of: $0) }
    let rest = joinedCount + invitedCount - 1 - names.count
    if names.isEmpty || (joinedCount + invitedCount <= 1 && membership != .invite) {
      return rest > 0 ? .members([], others: rest) : .empty(formerly: names)
    }
    return .members(names, others: max(0, rest))
  }

  /// The heroes the server chose, or else the first five of the members known.
  private func namingMembers(except ownUserID: UserID) -> [UserID] {
    if heroes.isEmpty { return members.first(Limits.namedMembers, except: ownUserID) }
    return Array(heroes.filter { $0 != ownUserID }.prefix(Limits.namedMembers))
  }

  // MARK: Members in the store

  /// Whether what the line shows depends on members that are not in memory. `old` is the room before the events of `delta`.
  func needsPeople(after old: RoomState, _ delta: RoomDelta) -> Bool {
    if hasPeople { return false }
    if named.contains(where: { members[$0] == nil && !old.named.contains($0) }) { return true }
    if delta.members.isEmpty { return false }
    if name == nil, canonicalAlias == nil, heroes.isEmpty { return true }
    if named.contains(where: { members.isAmbiguous($0) }) { return true }
    // A name that is new here may be that of somebody else, too.
    return delta.members.contains { user in
      guard named.contains(user), let name = members[user]?.displayName else { return false }
      return name != old.members[user]?.displayName
    }
  }

  /// Lets go of the members and receipts that the store has, but for the members the line shows and the own receipt.
  mutating func dropPeople(ownUserID: UserID) {
    hasPeople = false
    // Push rules want the own name.
    members.keep(named.contains(ownUserID) ? named : named + [ownUserID])
    let own = receipts[ownUserID]
    receipts = [:]
    receipts[ownUserID] = own
    hasAllMembers = storesAllMembers
  }

  /// Takes back what the store has. What is here already is newer.
  mutating func addPeople(_ stored: [Member], _ storedReceipts: [ReadReceipt]) {
    members.addOlder(stored)
    for receipt in storedReceipts {
      guard members[receipt.user].map({ $0.isPresent }) ?? true,
        !(receipts[receipt.user]?.contains { $0.kind == receipt.kind } ?? false)
      else { continue }
      receipts[receipt.user, default: []].append(receipt)
    }
    hasPeople = true
  }
}
