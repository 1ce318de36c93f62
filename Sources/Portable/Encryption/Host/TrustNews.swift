import JSON
import MatrixModel

/// Something about the keys of a user that people may want to know. What a list says when it is seen first is no news.
package enum TrustNews: Hashable, Sendable {
  /// - isSigned: whether its user has signed it so far.
  case deviceAppeared(UserID, DeviceID, name: ByteString?, isSigned: Bool)
  case deviceGone(UserID, DeviceID)
  case deviceRefused(UserID, DeviceID, DeviceRefusal)
  /// The server no longer gives its user's signature of the device, or no longer lists this device.
  case signatureHidden(UserID, DeviceID)
  /// - wasVerified: whether the user was verified before.
  case identityChanged(UserID, wasVerified: Bool)
  /// The server no longer gives the keys of the user.
  case identityHidden(UserID)
  case identityRefused(UserID, IdentityRefusal)
  /// A device of the user has the name of one of their keys: nobody can verify them.
  case namesCollided(UserID)
}

/// What was told already. A server that goes on with something wrong is told of once.
struct ToldTrust: Sendable {
  private static let limit = 1_000

  private var told: Set<TrustNews> = []

  /// - Returns: false for what was told.
  mutating func tell(_ news: TrustNews) -> Bool {
    switch news {
    case .deviceAppeared, .deviceGone, .identityChanged: return true
    case .deviceRefused, .signatureHidden, .identityHidden, .identityRefused, .namesCollided:
      if told.count >= Self.limit { told = [] }
      return told.insert(news).inserted
    }
  }
}

extension EncryptionMachine {
  /// nil for what nobody has to be told.
  func trustNews(_ news: DeviceNews) -> TrustNews? {
    switch news {
    case .listed: return nil
    case .appeared(let keys):
      if keys.user == own.user, keys.device == own.device { return nil }
      let isSigned = identities.identity(of: keys.user)?.hasSigned(keys) ?? false
      // Nobody signed in: a client of the user has made it. The user's identity may have changed.
      if keys.isDehydrated, keys.signer != nil { return nil }
      return .deviceAppeared(keys.user, keys.device, name: keys.name, isSigned: isSigned)
    case .gone(let user, let device): return .deviceGone(user, device)
    case .refused(let user, let device, let reason): return .deviceRefused(user, device, reason)
    case .unsigned(let user, let device): return .signatureHidden(user, device)
    }
  }

  /// nil for what nobody has to be told.
  func trustNews(_ news: IdentityNews) -> TrustNews? {
    switch news {
    case .appeared, .verified, .ownSignerChanged: nil
    case .changed(let user): .identityChanged(user, wasVerified: identities.identity(of: user)?.change == .ofVerified)
    case .hidden(let user): .identityHidden(user)
    case .refused(let user, let reason): .identityRefused(user, reason)
    case .collided(let user): .namesCollided(user)
    case .ownDeviceHidden: .signatureHidden(own.user, own.device)
    }
  }
}
