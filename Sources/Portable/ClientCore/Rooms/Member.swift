import JSON
import MatrixModel

/// A member of a room, as the last `m.room.member` event says.
public struct Member: Sendable {
  public let userID: UserID
  public internal(set) var membership: Membership
  /// The name that the member set, even if others have the same; nil if they set none.
  public internal(set) var displayName: ByteString?
  public internal(set) var avatar: MediaURI?
  /// Why somebody knocks or is banned; nil for others.
  public internal(set) var reason: ByteString?
}

/// The members of a room known so far. Knows how many bear each name, so that telling them apart costs O(1).
struct Members: Sendable {
  private var byID: [UserID: Member] = [:]
  /// By what the eye sees of the name.
  private var bearers: [ByteString: Bearers] = [:]
  /// Who shares a name with somebody who is not in memory.
  private var ambiguous: Set<UserID> = []

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
    // Only the change of one bearer to two and back is seen by others.
    if let oldName {
      if case .one? = bearers[oldName] {
        bearers[oldName] = nil
      } else {
        bearers[oldName]?.remove(member.userID)
        if case .one(let other)? = bearers[oldName] { changed.append(other) }
      }
    }
    guard let newName else { return changed }
    switch bearers[newName] {
    case nil: bearers[newName] = .one(member.userID)
    case .one(let other):
      changed.append(other)
      bearers[newName]?.add(member.userID)
    case .several: bearers[newName]?.add(member.userID)
    }
    return changed
  }

  /// Spec: "Calculating the display name for a user".
  func displayName(of user: UserID) -> ByteString {
    guard let member = byID[user], let name = member.displayName, !name.isEmpty else { return user.text }
    let shown = name.inOneLine
    if ShownName.visible(name).isEmpty { return user.text }
    guard isAmbiguous(member, name) else { return shown }
    return ByteString(shown.string + " (" + user.string + ")")
  }

  func isAmbiguous(_ user: UserID) -> Bool {
    guard let member = byID[user], let name = member.displayName, !name.isEmpty else { return false }
    return isAmbiguous(member, name)
  }

  private func isAmbiguous(_ member: Member, _ name: ByteString) -> Bool {
    if ambiguous.contains(member.userID) || ShownName.isMisleading(name, of: member.userID) { return true }
    switch bearers[ShownName.visible(name)] {
    case nil: return false
    case .one: return !member.isPresent
    case .several: return true
    }
  }

  func present() -> [Member] {
    byID.values.filter { $0.isPresent }.ordered { $0.userID < $1.userID }
  }

  func members(_ membership: Membership) -> [Member] {
    byID.values.filter { $0.membership == membership }.ordered { $0.userID < $1.userID }
  }

  /// The first by user ID, of those present or else of all. O(members).
  func first(_ count: Int, except user: UserID) -> [UserID] {
    let present = first(count) { $0.isPresent && $0.userID != user }
    return present.isEmpty ? first(count) { $0.userID != user } : present
  }

  private func first(_ count: Int, where isWanted: (Member) -> Bool) -> [UserID] {
    var found: [UserID] = []
    for member in byID.values where isWanted(member) {
      if found.count == count, let last = found.last, last < member.userID { continue }
      found.insert(member.userID, at: found.firstIndex { member.userID < $0 } ?? found.count)
      if found.count > count { found.removeLast() }
    }
    return found
  }

  // MARK: Partly in memory

  /// Lets go of the others; those that are told apart by them still are.
  mutating func keep(_ users: [UserID]) {
    let kept = users.compactMap { byID[$0] }
    let ambiguous = kept.map { $0.userID }.filter { isAmbiguous($0) }
    self = Members()
    for member in kept { _ = set(member) }
    self.ambiguous = Set(ambiguous)
  }

  /// Takes the others back; who is here already is newer. Now all are here to tell who is ambiguous.
  mutating func addOlder(_ members: [Member]) {
    for member in members where byID[member.userID] == nil { _ = set(member) }
    ambiguous = []
  }

  mutating func markAmbiguous(_ user: UserID) { ambiguous.insert(user) }

  private static func countedName(_ member: Member) -> ByteString? {
    guard member.isPresent, let name = member.displayName.map({ ShownName.visible($0) }), !name.isEmpty else { return nil }
    return name
  }
}

/// Who bears a name.
private enum Bearers: Sendable {
  case one(UserID)
  case several(Set<UserID>)

  mutating func add(_ user: UserID) {
    switch self {
    case .one(let other): self = .several([other, user])
    case .several(var users):
      // So that the set is not copied.
      self = .one(user)
      users.insert(user)
      self = .several(users)
    }
  }

  /// Of at least two.
  mutating func remove(_ user: UserID) {
    guard case .several(var users) = self else { return }
    self = .one(user)
    users.remove(user)
    if users.count == 1, let other = users.first { self = .one(other) } else { self = .several(users) }
  }
}

extension Member {
  /// A name as a server lists it, without what could mislead; the user ID if the member has no name.
  public static func shownName(_ name: ByteString?, of user: UserID) -> ByteString {
    guard let name, !ShownName.visible(name).isEmpty, !ShownName.isMisleading(name, of: user) else { return user.text }
    return name.inOneLine
  }

  var isPresent: Bool { membership == .join || membership == .invite }
}
