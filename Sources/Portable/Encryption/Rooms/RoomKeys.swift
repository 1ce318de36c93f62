import JSON
import MatrixModel
import Olm

/// The keys of rooms that this device has, found by room and session alone. Spec: Client-Server API, "m.megolm.v1.aes-sha2".
///
/// A session has one key for each device that gave it as its own. So a member who hands on another's key as an own one takes nothing from them:
/// whose message it is depends on who sent it.
package struct RoomKeys: Sendable {
  package struct Name: Hashable, Sendable {
    package let room: RoomID
    package let session: ByteString

    package init(_ room: RoomID, _ session: ByteString) {
      self.room = room
      self.session = session
    }
  }

  struct Entry: Sendable {
    var keys: [RoomKey] = []
    /// Who says that they do not give the key to this device.
    var withheld: [UserID: WithheldCode] = [:]
  }

  /// Indices of which another event is known than the store has.
  struct Page: Hashable, Sendable {
    let name: Name
    let number: UInt32
  }

  var entries = RecordCache<Name, Entry>(limit: EncryptionLimits.cachedRoomKeys)
  private(set) var changedPages: Set<Page> = []

  package init() {}

  package func keys(of name: Name) -> [RoomKey] { entries.value(of: name)?.keys ?? [] }

  /// All changes are in the batch that is written now.
  mutating func markStored(evicting: Bool) {
    changedPages = []
    entries.markStored(evicting: evicting)
  }

  // MARK: Keys that come

  /// - Returns: whether something can be read now that could not before.
  package mutating func add(_ new: RoomKey) -> Bool {
    var entry = entries.value(of: new.name) ?? Entry()
    guard Self.add(new, to: &entry.keys) else { return false }
    entries.set(entry, new.name)
    for key in entry.keys { for page in key.seen.pages { changedPages.insert(Page(name: new.name, number: page)) } }
    return true
  }

  private static func add(_ new: RoomKey, to known: inout [RoomKey]) -> Bool {
    if !new.isClaimed, let place = known.firstIndex(where: { $0.origin == new.origin }) { return known[place].extend(by: new) }
    // Keys that agree are one session: nobody can make up an earlier start of it.
    let agreeing = known.indices.filter { known[$0].agrees(with: new) }
    var key = new
    if new.isClaimed, !agreeing.isEmpty {
      var isNew = false
      for place in agreeing { isNew = known[place].extend(by: new) || isNew }
      return isNew
    }
    for place in agreeing.reversed() where known[place].isClaimed { key.replace(known.remove(at: place)) }
    if known.count >= EncryptionLimits.keysOfSession {
      guard let place = excess(in: known, beside: key) else { return false }
      known.remove(at: place)
    }
    known.append(key)
    return true
  }

  /// The oldest key of whoever has given the session as their own from most devices: nobody keeps its owner's key out alone. nil if nobody has given more
  /// than one, or if the new one is theirs.
  private static func excess(in known: [RoomKey], beside new: RoomKey) -> Int? {
    let givers = known.map { $0.owner?.user }
    func count(_ giver: UserID?) -> Int { givers.count { $0 == giver } }
    guard let most = givers.max(by: { count($0) < count($1) }), count(most) > 1, most != new.owner?.user else { return nil }
    return givers.firstIndex(of: most)
  }

  /// Somebody does not give the key to this device.
  package mutating func withhold(_ name: Name, by user: UserID, _ code: WithheldCode) {
    var entry = entries.value(of: name) ?? Entry()
    guard entry.withheld.count < EncryptionLimits.keysOfSession || entry.withheld[user] != nil else { return }
    entry.withheld[user] = code
    entries.set(entry, name)
  }

  // MARK: Reading

  /// - Parameter event: from a room's timeline.
  package mutating func decrypt(_ event: EncryptedEvent) throws(Undecryptable) -> ClearEvent {
    var entry = entries.value(of: event.name) ?? Entry()
    var reason = entry.withheld[event.sender].map { Undecryptable.withheld($0) } ?? .missingKey
    // A key that its owner gave comes first.
    let places = entry.keys.indices.filter { entry.keys[$0].reads(event.sender) }
      .ordered { !entry.keys[$0].isClaimed && entry.keys[$1].isClaimed }
    for place in places {
      do throws(Undecryptable) {
        let (clear, index) = try entry.keys[place].decrypt(event)
        if let index { changedPages.insert(Page(name: event.name, number: index / SeenIndices.pageIndices)) }
        entries.keep(entry, event.name)
        return clear
      } catch { if error != .missingKey { reason = error } }
    }
    throw reason
  }
}
