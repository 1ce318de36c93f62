import JSON

/// Why an encrypted event cannot be read here.
public enum UndecryptableReason: Hashable, Sendable {
  /// Its key has not come yet.
  case waiting
  /// Its sender does not give the key to this device.
  case withheld(WithholdingReason)
  /// It was sent while the user was not in the room.
  case beforeJoining
  /// It is older than this device, and nothing here could bring the key.
  case historyUnavailable(HistoryObstacle)
  /// It comes from a device that its owner has not signed, and `EncryptionReaders` excludes those.
  case unsignedDevice
  /// The keys of its sender have changed, and `EncryptionReaders` excludes such senders until the user accepts that.
  case identityChanged
  /// Its ciphertext was sent before, as another event.
  case replayed
  /// It is damaged, was written for another room, or is encrypted in an unknown way.
  case damaged

  /// What an event that is older than the device would need.
  public enum HistoryObstacle: UInt8, CaseIterable, Sendable {
    /// A backup of the account's keys.
    case noBackup
    /// This device has to be verified: the recovery key brings older keys.
    case unverifiedDevice
  }
}

/// Spec: Client-Server API, "m.room_key.withheld".
public enum WithholdingReason: UInt8, CaseIterable, Sendable {
  /// The sender has blocked this device.
  case blacklisted
  /// The sender writes to verified devices only.
  case unverified
  /// This device may not read the message.
  case unauthorised
  /// The device that was asked does not have the key.
  case unavailable
  /// The sender could not begin a session with this device.
  case noOlm
  /// The room does not show its history to those who come later.
  case historyNotShared
}

extension UndecryptableReason {
  /// In the content of an event that this side could not decrypt. A server's word under this name does not come so far.
  static let mark: StaticString = "martlet.undecryptable"

  /// - Parameter content: of an `m.room.encrypted` event.
  package init(ofEncrypted content: JSON) {
    // A machine has nothing to say about other algorithms.
    guard let mark = content.text(Self.mark) else {
      let isKnown = content["algorithm"].map { $0.isString("m.megolm.v1.aes-sha2") } ?? true
      self = isKnown ? .waiting : .damaged
      return
    }
    self.init(named: mark)
  }

  /// - Parameter name: as the mark has it; another one means that the key has not come yet.
  package init(named name: ByteString) { self = Self.all.first { $0.name == name } ?? .waiting }

  private static var all: [UndecryptableReason] {
    [.waiting, .beforeJoining, .unsignedDevice, .identityChanged, .replayed, .damaged]
      + HistoryObstacle.allCases.map { .historyUnavailable($0) } + WithholdingReason.allCases.map { .withheld($0) }
  }

  /// A word for programs.
  public var name: ByteString {
    switch self {
    case .waiting: "waiting"
    case .withheld(let reason): reason.code
    case .beforeJoining: "before_joining"
    case .historyUnavailable(.noBackup): "no_backup"
    case .historyUnavailable(.unverifiedDevice): "unverified_device"
    case .unsignedDevice: "unsigned_device"
    case .identityChanged: "identity_changed"
    case .replayed: "replayed"
    case .damaged: "damaged"
    }
  }
}

extension WithholdingReason {
  /// As events have it.
  public var code: ByteString {
    switch self {
    case .blacklisted: "m.blacklisted"
    case .unverified: "m.unverified"
    case .unauthorised: "m.unauthorised"
    case .unavailable: "m.unavailable"
    case .noOlm: "m.no_olm"
    case .historyNotShared: "m.history_not_shared"
    }
  }
}
