import JSON
import MatrixModel
import Olm

/// A key that reads messages of a room: a session, as one device gave it.
package struct RoomKey: Sendable {
  /// A device, by the keys that its messages prove, and the user who sent them.
  package struct Owner: Hashable, Sendable {
    package let user: UserID
    package let identity: Curve25519Key
    package let signing: Ed25519Key

    package init(user: UserID, identity: Curve25519Key, signing: Ed25519Key) {
      self.user = user
      self.identity = identity
      self.signing = signing
    }
  }

  /// Where a key is from.
  package enum Origin: Hashable, Sendable {
    /// The device itself sent it, encrypted for this one.
    case proven(Owner)
    /// A backup, a file or another device names that device. Nothing proves it.
    case claimed(identity: Curve25519Key)
  }

  package let room: RoomID
  package let origin: Origin
  package private(set) var session: InboundGroupSession
  /// Whether members who come later may get it.
  package private(set) var sharesHistory: Bool
  /// Who gave it to somebody whom they invited; nil for other ways.
  var giver: UserID?
  var seen = SeenIndices()

  package init(_ room: RoomID, _ session: InboundGroupSession, _ origin: Origin, sharesHistory: Bool) {
    self.room = room
    self.session = session
    self.origin = origin
    self.sharesHistory = sharesHistory
  }

  /// From an `m.room_key` that was encrypted for this device.
  package init(_ payload: OlmPayload) throws(RoomKeyRefusal) {
    let content = payload.content
    guard content.text("algorithm") == Algorithm.megolm else { throw .unknownAlgorithm }
    guard let room = RoomID(content["room_id"]), let text = content.text("session_key"),
      let bytes = Base64.decode(Array(text.utf8)), let session = try? InboundGroupSession(sharedKey: bytes),
      content.text("session_id") == ByteString(decoding: session.id)
    else { throw .malformed }
    let owner = Owner(user: payload.sender, identity: payload.identity, signing: payload.signing)
    // The second name was in use before spec 1.19.
    let sharesHistory = content.bool("shared_history") ?? content.bool("org.matrix.msc3061.shared_history") ?? false
    self.init(room, session, .proven(owner), sharesHistory: sharesHistory)
  }

  package var id: ByteString { ByteString(decoding: session.id) }
  package var name: RoomKeys.Name { RoomKeys.Name(room, id) }

  var isClaimed: Bool { if case .claimed = origin { true } else { false } }

  /// nil where nothing proves it.
  var owner: Owner? { if case .proven(let owner) = origin { owner } else { nil } }

  /// Whether messages of the user can be read with it. One that only names its owner reads for anybody, as *not proven*.
  func reads(_ sender: UserID) -> Bool {
    switch origin {
    case .proven(let owner): owner.user == sender
    case .claimed: true
    }
  }

  // MARK: Merging

  func agrees(with other: RoomKey) -> Bool { (try? session.agrees(with: other.session)) ?? false }

  /// Takes over an earlier start of the same session.
  ///
  /// - Returns: false if the other reads nothing that this one does not, or is of another session.
  mutating func extend(by other: RoomKey) -> Bool {
    guard other.session.firstIndex < session.firstIndex, agrees(with: other) else { return false }
    session = other.session
    sharesHistory = sharesHistory && other.sharesHistory
    return true
  }

  /// Takes the place of one that only named its owner.
  mutating func replace(_ other: RoomKey) {
    _ = extend(by: other)
    if case .proven(let owner) = origin { seen = other.seen.only(of: owner.user) }
  }

  // MARK: Reading

  /// - Returns: what the event says, and its index if no event was known to have it.
  mutating func decrypt(_ event: EncryptedEvent) throws(Undecryptable) -> (ClearEvent, new: UInt32?) {
    let opened: (plaintext: [UInt8], index: UInt32)
    do throws(OlmError) { opened = try session.decrypt(event.ciphertext) } catch {
      throw error == .unreachableIndex ? .missingKey : .damaged
    }
    let clear = try ClearEvent(opened.plaintext, of: event, origin, giver: giver)
    switch seen.note(opened.index, event) {
    case .new: return (clear, new: opened.index)
    case .known: return (clear, new: nil)
    case .replayed: throw .replayed
    }
  }
}

/// Why a room's key is not taken.
package enum RoomKeyRefusal: Error, Equatable, Sendable {
  case malformed
  case unknownAlgorithm
}
