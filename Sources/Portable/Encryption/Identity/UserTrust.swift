import MatrixModel

/// How far the keys of a user and of the user's devices are proven.
package struct UserTrust: Equatable, Sendable {
  package struct Device: Equatable, Sendable {
    package let device: DeviceID
    /// Whether the user has signed the device, and the user is verified.
    package let isVerified: Bool
  }

  /// Whether the user has cross-signing keys.
  package let hasIdentity: Bool
  /// Whether the master key is proven to be the user's. For the own user: whether this device is verified.
  package let isVerified: Bool
  /// In the order of their IDs.
  package let devices: [Device]
}
