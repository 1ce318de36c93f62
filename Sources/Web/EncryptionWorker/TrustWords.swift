import Encryption
import EncryptionLink
import JSON
import MatrixModel

extension EncryptionReport.Trust {
  init(_ trust: UserTrust) {
    self.init(
      hasIdentity: trust.hasIdentity, isVerified: trust.isVerified, hasChanged: trust.hasChanged,
      devices: trust.devices.map { device in
        EncryptionReport.Device(
          id: device.device.text, name: device.name ?? "", isSigned: device.isSigned, isVerified: device.isVerified)
      }, refused: trust.refused.map { $0.text })
  }
}

extension EncryptionReport.ChangedIdentity {
  init(_ identity: UserIdentity) {
    self.init(user: identity.keys.user.text, wasVerified: identity.change == .ofVerified)
  }
}

extension EncryptionReport.News {
  init(_ news: TrustNews) {
    switch news {
    case .deviceAppeared(let user, let device, _, _): self.init(.deviceAppeared, of: user.text, device: device.text)
    case .deviceGone(let user, let device): self.init(.deviceGone, of: user.text, device: device.text)
    case .deviceRefused(let user, let device, _): self.init(.deviceRefused, of: user.text, device: device.text)
    case .signatureHidden(let user, let device): self.init(.signatureHidden, of: user.text, device: device.text)
    case .identityChanged(let user, _): self.init(.identityChanged, of: user.text)
    case .identityHidden(let user), .identityRefused(let user, _): self.init(.identityHidden, of: user.text)
    case .namesCollided(let user): self.init(.namesCollided, of: user.text)
    }
  }
}

extension EncryptionReport.Readers {
  init(_ readers: SharingPolicy.Readers) {
    self =
      switch readers {
      case .signedIfAny: .signedIfAny
      case .signed: .signed
      case .verified: .verified
      case .all: .all
      }
  }
}

extension SharingPolicy.Readers {
  init(_ readers: EncryptionReport.Readers) {
    self =
      switch readers {
      case .signedIfAny: .signedIfAny
      case .signed: .signed
      case .verified: .verified
      case .all: .all
      }
  }
}
