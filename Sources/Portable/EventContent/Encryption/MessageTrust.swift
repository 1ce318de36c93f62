import JSON

/// How far a message in an encrypted room is proven to be its sender's.
public enum MessageTrust: UInt8, CaseIterable, Sendable {
  /// A device of a verified user, or this device.
  case verified
  /// A device that its owner has signed.
  case pinned
  /// A device that its owner has not signed.
  case unsignedDevice
  /// A device that is not in its owner's list, or no longer.
  case unknownDevice
  /// The key came from a backup, a file or another device, and nothing proves whose it is.
  case notProven
  /// The keys of the sender have changed, and the user has not accepted that yet.
  case identityChanged
  /// It was sent in clear text, though the room was encrypted.
  case unencrypted

  /// How much a view should say about it.
  public enum Concern: UInt8, Sendable {
    /// Nothing.
    case none
    /// It cannot be told who has sent it.
    case uncertain
    /// Somebody may pretend to be the sender.
    case serious
  }

  public var concern: Concern {
    switch self {
    case .verified, .pinned: .none
    case .unsignedDevice, .unknownDevice, .notProven: .uncertain
    case .identityChanged, .unencrypted: .serious
    }
  }
}

extension MessageTrust {
  /// Of an event that was encrypted. A server's word under this name does not come so far.
  package static let mark: StaticString = "martlet.decrypted"

  /// - Parameter mark: the member of an event.
  package init?(mark: JSON?) {
    guard let name = mark?.text("trust"), let trust = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = trust
  }

  /// A word for programs.
  public var name: ByteString {
    switch self {
    case .verified: "verified"
    case .pinned: "pinned"
    case .unsignedDevice: "unsigned"
    case .unknownDevice: "unknown"
    case .notProven: "not_proven"
    case .identityChanged: "changed"
    case .unencrypted: "unencrypted"
    }
  }
}
