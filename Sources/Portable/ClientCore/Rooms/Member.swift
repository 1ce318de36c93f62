import JSON
import MatrixModel

/// A member of a room, as the last `m.room.member` event says.
public struct Member: Sendable {
  public let userID: UserID
  public internal(set) var membership: Membership
  /// As the member set it, not told apart from equal ones; nil where there is none.
  public internal(set) var displayName: ByteString?
  public internal(set) var avatar: MediaURI?
}

/// The members of a room known so far. Knows how many bear each name, so that telling them apart costs O(1).
struct Members: Sendable {
  private var byID: [UserID: Member] = [:]
  private var bearers: [ByteString: Int] = [:]

  subscript(user: UserID) -> Member? { byID[user] }

  var count: Int { byID.count }
  var all: Dictionary<UserID, Member>.Values { byID.values }

  /// Returns the members whose shown name or avatar is different now: the member itself and those its name touches.
  mutating func set(_ member: Member) -> [UserID] {
    let old = byID.updateValue(member, forKey: member.userID)
    let oldName = old.flatMap(Members.countedName)
    let newName = Members.countedName(member)
    if old != nil, oldName == newName {
      return old?.avatar == member.avatar && old?.displayName == member.displayName ? [] : [member.userID]
    }
    var changed = [member.userID]
    if let oldName {
      let left = (bearers[oldName] ?? 1) - 1
      bearers[oldName] = left == 0 ? nil : left
      if left == 1 { changed += bearing(oldName, except: member.userID) }
    }
    if let newName {
      let now = (bearers[newName] ?? 0) + 1
      bearers[newName] = now
      if now == 2 { changed += bearing(newName, except: member.userID) }
    }
    return changed
  }

  /// Spec: "Calculating the display name for a user".
  func displayName(of user: UserID) -> ByteString {
    guard let member = byID[user], let name = member.displayName, !name.isEmpty else { return user.text }
    guard let count = bearers[name], count > 1 || !Members.isPresent(member) else { return name }
    return ByteString(name.string + " (" + user.string + ")")
  }

  func present() -> [Member] {
    byID.values.filter(Members.isPresent).sorted { $0.userID < $1.userID }
  }

  private func bearing(_ name: ByteString, except user: UserID) -> [UserID] {
    byID.values.filter { $0.userID != user && Members.countedName($0) == name }.map { $0.userID }
  }

  private static func isPresent(_ member: Member) -> Bool { member.membership == .join || member.membership == .invite }

  private static func countedName(_ member: Member) -> ByteString? {
    isPresent(member) ? member.displayName : nil
  }
}
