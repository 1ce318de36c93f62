import JSON
import MatrixModel

/// The devices that are to read a room's next message, and those that are told why they are not.
package struct Recipients: Sendable {
  package var readers: [DeviceKeys]
  package var withheld: [Withheld]

  package struct Withheld: Hashable, Sendable {
    package let device: DeviceKeys
    package let code: WithheldCode

    package init(_ device: DeviceKeys, _ code: WithheldCode) {
      self.device = device
      self.code = code
    }
  }

  package init(_ readers: [DeviceKeys], withheld: [Withheld] = []) {
    self.readers = readers
    self.withheld = withheld
  }
}

/// Why somebody does not get a room's key. Spec: Client-Server API, "m.room_key.withheld".
package enum WithheldCode: UInt8, Hashable, Sendable {
  case blacklisted = 1, unverified, unauthorised, unavailable, noOlm, historyNotShared

  package init?(_ text: ByteString) {
    switch text {
    case "m.blacklisted": self = .blacklisted
    case "m.unverified": self = .unverified
    case "m.unauthorised": self = .unauthorised
    case "m.unavailable": self = .unavailable
    case "m.no_olm": self = .noOlm
    case "m.history_not_shared": self = .historyNotShared
    default: return nil
    }
  }

  package var text: ByteString {
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
