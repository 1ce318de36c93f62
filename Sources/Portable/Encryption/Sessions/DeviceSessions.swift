import JSON
import MatrixModel
import Olm

/// The Olm sessions with other devices, by their identity keys.
///
/// A value: store it with each call that changes it, before the message is sent or shown. Then no key is used twice, and none is lost.
package struct DeviceSessions: Sendable {
  /// Sessions with one device. Two sides that write at once make one each; the one heard from longest ago goes first.
  static let sessionsOfDevice = 5
  /// A device gets a new session at most so often, whatever it sends.
  static let repairPauseMilliseconds: Int64 = 60 * 60 * 1_000

  /// A session, and the fingerprint of the device that it is with. Another user's device may claim the same identity key: then it has sessions of
  /// its own.
  struct Link: Sendable {
    var session: Session
    let signing: Ed25519Key
  }

  struct Entry: Sendable {
    /// The one to write with first: the one last heard from, as the other side certainly has it.
    var links: [Link] = []
    /// Milliseconds since 1970.
    var repairedAt: Int64?
  }

  var entries = RecordCache<Curve25519Key, Entry>(limit: EncryptionLimits.cachedDevices)

  package init() {}

  package func hasSession(with device: DeviceKeys) -> Bool { place(of: device, in: links(of: device.identity)) != nil }

  private func links(of identity: Curve25519Key) -> [Link] { entries.value(of: identity)?.links ?? [] }

  private func place(of device: DeviceKeys, in links: [Link]) -> Int? {
    links.firstIndex { $0.signing == device.signing }
  }

  private mutating func set(_ links: [Link], _ identity: Curve25519Key) {
    var entry = entries.value(of: identity) ?? Entry()
    entry.links = links
    entries.set(entry, identity)
  }

  /// - Parameter oneTime: from `DeviceKeys.claimedKey`, which has checked its signature.
  package mutating func begin(
    with device: DeviceKeys, oneTime: Curve25519Key, from own: OwnKeys, random: inout SecretSource
  ) throws(OlmError) {
    let session = try own.account.session(to: device.identity, oneTime: oneTime, random: &random)
    keep(Link(session: session, signing: device.signing), before: links(of: device.identity), device.identity)
  }

  /// The content of an `m.room.encrypted` event for the device; nil without a session.
  package mutating func encrypt(
    _ type: ByteString, _ content: JSON, for device: DeviceKeys, from own: OwnKeys, random: inout SecretSource
  ) throws(OlmError) -> [UInt8]? {
    var known = links(of: device.identity)
    guard let place = place(of: device, in: known) else { return nil }
    let message = try known[place].session.encrypt(OlmPayload.write(type, content, from: own, to: device), random: &random)
    set(known, device.identity)
    return JSONWriter.object { writer in
      writer.member("algorithm", Algorithm.olm)
      writer.member("sender_key", ByteString(decoding: own.account.identity.key.text))
      writer.key("ciphertext")
      writer.object { writer in
        writer.key(ByteString(decoding: device.identity.text))
        writer.object { writer in
          writer.member("type", message.type)
          writer.member("body", ByteString(decoding: Base64.encode(message.body)))
        }
      }
    }
  }

  /// - Parameters:
  ///   - content: of an `m.room.encrypted` event that came to this device.
  ///   - own: loses the one-time key that the message used up.
  package mutating func decrypt(
    _ content: JSON, from sender: UserID, to own: inout OwnKeys, knowing tracker: DeviceTracker
  ) throws(OlmRefusal) -> OlmPayload {
    guard content.text("algorithm") == Algorithm.olm else { throw .unknownAlgorithm }
    guard let identity = content.curve25519Key("sender_key"), let ciphertext = content["ciphertext"] else { throw .malformed }
    guard let part = ciphertext[ByteString(decoding: own.account.identity.key.text)] else { throw .notForThisDevice }
    guard let text = part.text("body"), let body = Base64.decode(Array(text.utf8)), let type = part.integer("type"),
      let message = OlmMessage(type: type, body: body)
    else { throw .malformed }
    let opened: Opened
    do throws(OlmError) { opened = try open(message, identity, own.account) } catch { throw .undecryptable(error) }
    guard let json = try? JSON.parse(opened.plaintext) else { throw .malformed }
    let payload = try OlmPayload(json, from: sender, by: identity, to: own, knowing: tracker)
    var known = links(of: identity)
    if let place = opened.place {
      guard known.remove(at: place).signing == payload.signing else { throw .wrongKeys }
    }
    own.account = opened.account
    keep(Link(session: opened.session, signing: payload.signing), before: known, identity)
    return payload
  }

  /// A message and the state after it, which is kept once what it says has been checked.
  private struct Opened {
    let plaintext: [UInt8]
    let session: Session
    /// Of the session before the message; nil for a new one.
    let place: Int?
    let account: Account
  }

  private func open(_ message: OlmMessage, _ identity: Curve25519Key, _ account: Account) throws(OlmError) -> Opened {
    let known = links(of: identity).map { $0.session }
    if case .preKey(let bytes) = message {
      // A session that is there already: with a new one a message could be read again.
      for place in known.indices where try known[place].isBegun(by: bytes) {
        return try read(message, known[place], at: place, account)
      }
      var account = account
      let (session, plaintext) = try account.accept(bytes, from: identity)
      return Opened(plaintext: plaintext, session: session, place: nil, account: account)
    }
    var reason = OlmError.wrongSession
    for place in known.indices {
      do throws(OlmError) {
        return try read(message, known[place], at: place, account)
      } catch { if error != .wrongMAC { reason = error } }
    }
    throw reason
  }

  private func read(_ message: OlmMessage, _ known: Session, at place: Int, _ account: Account) throws(OlmError) -> Opened {
    var session = known
    let plaintext = try session.decrypt(message)
    return Opened(plaintext: plaintext, session: session, place: place, account: account)
  }

  private mutating func keep(_ link: Link, before others: [Link], _ identity: Curve25519Key) {
    set(Array(([link] + others).prefix(Self.sessionsOfDevice)), identity)
  }

  // MARK: Repair

  /// After a message that no session opens: whether to begin a new one and say so by `m.dummy`, so that the other side writes with it from then on.
  ///
  /// - Parameter now: milliseconds since 1970.
  package mutating func mayRepair(_ device: DeviceKeys, at now: Int64) -> Bool {
    var entry = entries.value(of: device.identity) ?? Entry()
    // A clock that was set back does not lengthen the pause.
    if let last = entry.repairedAt, (0..<Self.repairPauseMilliseconds).contains(now - last) { return false }
    entry.repairedAt = now
    entries.set(entry, device.identity)
    return true
  }
}
