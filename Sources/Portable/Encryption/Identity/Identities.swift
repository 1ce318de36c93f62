import JSON
import MatrixModel
import Olm

/// A change of an identity that the user may want to know.
package enum IdentityNews: Equatable, Sendable {
  /// The first identity of the user was pinned.
  case appeared(UserID)
  /// The server gives another master key than the pinned one.
  case changed(UserID)
  /// The server no longer gives the keys of the user, or gives false ones. Those that were known stay.
  case hidden(UserID)
  case refused(UserID, IdentityRefusal)
  /// The user counts as verified from now on.
  case verified(UserID)
  /// A device ID of the user is the name of a cross-signing key.
  case collided(UserID)
  /// The own user-signing key changed. The lists of other users have to be asked for again: only then their signatures by it are seen.
  case ownSignerChanged
  /// The server no longer lists this device, or no longer gives its signature.
  case ownDeviceHidden
}

/// The identities of the user and of others. They stay pinned also while no room is shared with their users.
///
/// A value: `own` and the identities in `unstored` have to be stored after each call.
package struct Identities: Sendable {
  package var own: OwnIdentity {
    didSet {
      isOwnUnstored = true
      noteVerified()
    }
  }
  private var others: [UserID: UserIdentity] = [:]
  /// Those of others whose master key was another one before.
  private var replaced: Set<UserID> = []
  /// Other users whose identity the store does not have as it is.
  private(set) var unstored: Set<UserID> = []
  private(set) var isOwnUnstored = false

  package init(own: OwnIdentity) { self.own = own }

  /// As they were stored.
  init(own: OwnIdentity, others: [UserIdentity]) {
    self.own = own
    for identity in others {
      self.others[identity.keys.user] = identity
      if identity.changedAt != nil || identity.change != nil { replaced.insert(identity.keys.user) }
    }
  }

  mutating func markStored() {
    unstored = []
    isOwnUnstored = false
  }

  package func identity(of user: UserID) -> UserIdentity? { user == own.user ? own.identity : others[user] }

  /// Other users with another master key than the pinned one, in the order of their IDs.
  package var changed: [UserIdentity] {
    replaced.compactMap { others[$0] }.filter { $0.change != nil }.ordered { $0.keys.user < $1.keys.user }
  }

  /// When the master keys of others changed last, in milliseconds since 1970; the oldest first.
  package var changes: [(user: UserID, at: Int64)] {
    replaced.compactMap { user in others[user]?.changedAt.map { (user, $0) } }
      .ordered { $0.at != $1.at ? $0.at < $1.at : $0.user < $1.user }
  }

  /// Whether the master key is proven: for the own user by another device or the recovery key, for others by the signature of the verified own
  /// identity.
  package func isVerified(_ user: UserID) -> Bool {
    user == own.user ? own.isVerified : others[user].map { isSigned($0) && $0.change == nil } ?? false
  }

  /// Other users of whom that is so, in the order of their IDs.
  package var verified: [UserID] { others.keys.filter { isVerified($0) }.ordered() }

  private func isSigned(_ identity: UserIdentity) -> Bool {
    guard own.isVerified, let key = own.keys?.userSigning else { return false }
    return identity.signer == key && !identity.hasNameCollision
  }

  // MARK: The server's keys

  /// Takes the identities of an answer of `/keys/query`. `DeviceTracker.answered` follows: it needs them to check the devices' signatures.
  ///
  /// - Parameter now: milliseconds since 1970.
  package mutating func answered(_ query: DeviceTracker.DeviceQuery, _ answer: JSON, at now: Int64) -> [IdentityNews] {
    let failures = Set(answer.failedServers)
    let users = query.users.filter { !failures.contains($0.serverName) }
    var news: [IdentityNews] = []
    // The own user-signing key tells which signatures count.
    if users.contains(own.user) { news += takeOwn(answer) }
    for user in users where user != own.user { news += take(answer, of: user, at: now) }
    return news
  }

  private mutating func takeOwn(_ answer: JSON) -> [IdentityNews] {
    let before = own
    let device = answer["device_keys"]?[own.user.text]?[own.device.text]
    var (news, next): ([IdentityNews], OwnIdentity) = ([], own)
    do throws(IdentityRefusal) {
      if let keys = try CrossSigningKeys(answer, of: own.user) {
        _ = next.take(keys)
      } else if before.identity != nil {
        news.append(.hidden(own.user))
      }
    } catch { news.append(.refused(own.user, error)) }
    news += Self.news(of: own.user, before.identity, next.identity)
    let isSigned = device?.text("device_id") == own.device.text && Self.isSigned(device, of: own.user, next.keys?.selfSigning)
    next.note(
      isDeviceSigned: isSigned, hasNameCollision: next.identity.map { Self.hasCollision($0, answer) } ?? false,
      hasSignedDevice: next.identity.map { Self.hasSignedDevice($0, answer) } ?? false)
    if next.identity?.hasNameCollision ?? false, !(before.identity?.hasNameCollision ?? false) {
      news.append(.collided(own.user))
    }
    let isSameSigner = before.keys?.selfSigning == next.keys?.selfSigning
    if before.isDeviceSigned, device == nil || isSameSigner && !isSigned { news.append(.ownDeviceHidden) }
    if before.keys?.userSigning != next.keys?.userSigning { news.append(.ownSignerChanged) }
    own = next
    return news
  }

  private mutating func take(_ answer: JSON, of user: UserID, at now: Int64) -> [IdentityNews] {
    let before = others[user]
    let wasVerified = isVerified(user)
    var news: [IdentityNews] = []
    do throws(IdentityRefusal) {
      if let keys = try CrossSigningKeys(answer, of: user) {
        if before == nil { others[user] = UserIdentity(keys) } else { others[user]?.take(keys) }
        if let json = answer["master_keys"]?[user.text], let key = own.keys?.userSigning, json.isSigned(by: own.user, key) {
          others[user]?.noteSignature(by: key)
        }
      } else if before != nil {
        news.append(.hidden(user))
      }
    } catch { news.append(.refused(user, error)) }
    guard let taken = others[user] else { return news }
    if let before, before.keys.master != taken.keys.master {
      others[user]?.changedAt = now
      replaced.insert(user)
    }
    let hasCollision = Self.hasCollision(taken, answer)
    others[user]?.hasNameCollision = hasCollision
    if !taken.hasSignedDevice, Self.hasSignedDevice(taken, answer) { others[user]?.hasSignedDevice = true }
    // Another device of ours may have verified the user's new key.
    noteVerified(user)
    news += Self.news(of: user, before, others[user])
    if hasCollision, !(before?.hasNameCollision ?? false) { news.append(.collided(user)) }
    if isVerified(user), !wasVerified { news.append(.verified(user)) }
    if others[user] != before { unstored.insert(user) }
    return news
  }

  private static func news(of user: UserID, _ before: UserIdentity?, _ after: UserIdentity?) -> [IdentityNews] {
    guard let after else { return [] }
    guard let before else { return [.appeared(user)] }
    return after.change != nil && before.keys.master != after.keys.master ? [.changed(user)] : []
  }

  /// Whether the answer has a device of the user with the name of a key. It may be refused as a device.
  private static func hasCollision(_ identity: UserIdentity, _ answer: JSON) -> Bool {
    let devices = answer["device_keys"]?[identity.keys.user.text]?.members.map { $0.key } ?? []
    return devices.contains { identity.names($0) }
  }

  private static func hasSignedDevice(_ identity: UserIdentity, _ answer: JSON) -> Bool {
    let user = identity.keys.user
    let devices = answer["device_keys"]?[user.text]?.members.map { $0.value } ?? []
    return devices.contains { isSigned($0, of: user, identity.keys.selfSigning) }
  }

  private static func isSigned(_ device: JSON?, of user: UserID, _ key: Ed25519Key?) -> Bool {
    guard let device, let key else { return false }
    return device.isSigned(by: user, key)
  }

  // MARK: The user's decisions

  /// Signs the master key of a user who was verified by comparing keys.
  ///
  /// - Parameters:
  ///   - master: the key that was verified.
  ///   - json: the master key as `/keys/query` gives it.
  /// - Returns: false if the server gives another key by now, or if this device cannot sign.
  package mutating func verify(_ user: UserID, _ master: Ed25519Key, _ json: JSON) -> Bool {
    guard let identity = others[user], identity.keys.master == master, let key = own.keys?.userSigning,
      own.sign(json, of: identity)
    else { return false }
    others[user]?.noteSignature(by: key)
    unstored.insert(user)
    noteVerified(user)
    return true
  }

  /// See `UserIdentity.acknowledge`.
  package mutating func acknowledge(_ user: UserID, _ master: Ed25519Key) -> Bool {
    guard others[user]?.acknowledge(master) ?? false else { return false }
    unstored.insert(user)
    return true
  }

  /// See `UserIdentity.withdrawVerification`.
  package mutating func withdrawVerification(of user: UserID, _ master: Ed25519Key) -> Bool {
    guard others[user]?.withdrawVerification(master) ?? false else { return false }
    unstored.insert(user)
    return true
  }

  /// Pins what the own identity has signed.
  private mutating func noteVerified() {
    for user in others.keys.map({ $0 }) { noteVerified(user) }
  }

  private mutating func noteVerified(_ user: UserID) {
    guard let identity = others[user], isSigned(identity), !identity.wasVerified || identity.change != nil else { return }
    others[user]?.markVerified()
    unstored.insert(user)
  }
}

extension JSON {
  /// The servers that an answer of `/keys/query` names as failed.
  var failedServers: [ServerName] { self["failures"]?.members.compactMap { ServerName($0.key) } ?? [] }
}
