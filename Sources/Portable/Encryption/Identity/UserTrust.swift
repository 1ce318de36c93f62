import JSON
import MatrixModel

/// How far the keys of a user and of the user's devices are proven.
package struct UserTrust: Equatable, Sendable {
  package struct Device: Equatable, Sendable {
    package let device: DeviceID
    /// What its owner calls it; nothing proves that.
    package let name: ByteString?
    /// Whether its user has signed the device.
    package let isSigned: Bool
    /// Whether the user is verified, too.
    package let isVerified: Bool
  }

  /// Whether the user has cross-signing keys.
  package let hasIdentity: Bool
  /// Whether the master key is proven to be the user's. For the own user: whether this device is verified.
  package let isVerified: Bool
  /// Whether the user has other keys now than those that were accepted.
  package let hasChanged: Bool
  /// In the order of their IDs.
  package let devices: [Device]
  /// Devices whose keys cannot be theirs, in the order of their IDs: they get nothing.
  package let refused: [DeviceID]
}
