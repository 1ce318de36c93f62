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

  private var keys: [Name: [RoomKey]] = [:]

  package init() {}

  package func keys(of name: Name) -> [RoomKey] { keys[name] ?? [] }

  /// As they were stored.
  mutating func restore(_ restored: [RoomKey], _ name: Name) { keys[name] = restored }

  mutating func forget(_ name: Name) { keys[name] = nil }

  /// - Returns: whether something can be read now that could not before.
  package mutating func add(_ new: RoomKey) -> Bool {
    var known = keys(of: new.name)
    let isNew = Self.add(new, to: &known)
    keys[new.name] = known
    return isNew
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
    guard known.count < EncryptionLimits.keysOfSession else { return false }
    known.append(key)
    return true
  }

  /// - Parameter event: from a room's timeline.
  package mutating func decrypt(_ event: EncryptedEvent) throws(Undecryptable) -> ClearEvent {
    let name = Name(event.room, event.session)
    let known = keys(of: name)
    var reason = Undecryptable.missingKey
    // A key that its owner gave comes first.
    let places = known.indices.filter { known[$0].reads(event.sender) }.ordered { !known[$0].isClaimed && known[$1].isClaimed }
    for place in places {
      var key = known[place]
      do throws(Undecryptable) {
        let clear = try key.decrypt(event)
        keys[name]?[place] = key
        return clear
      } catch { reason = error }
    }
    throw reason
  }
}
