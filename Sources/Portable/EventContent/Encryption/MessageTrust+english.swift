extension MessageTrust {
  /// What is off, in a sentence; nil if nothing is.
  public var english: String? {
    switch self {
    case .verified, .pinned: nil
    case .unsignedDevice: "Sent by a device that its owner has not verified."
    case .unknownDevice: "Sent by a device that is unknown or was deleted."
    case .notProven: "Its key came from a backup or a file: nothing proves who sent it."
    case .identityChanged: "The keys of its sender have changed."
    case .unencrypted: "Not encrypted."
    }
  }
}
