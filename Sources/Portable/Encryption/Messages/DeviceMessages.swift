import JSON
import MatrixModel
import Olm

/// A device of a user, by its IDs.
package struct DeviceAddress: Hashable, Sendable {
  package let user: UserID
  package let device: DeviceID

  package init(_ user: UserID, _ device: DeviceID) {
    self.user = user
    self.device = device
  }

  init(_ keys: DeviceKeys) { self.init(keys.user, keys.device) }
}

/// An event that another device has encrypted for this one, and that is not about keys of rooms: the app knows what to do with it.
package struct ReceivedMessage: Sendable {
  package let type: ByteString
  package let content: JSON
  /// The device that has encrypted it: it is in its user's list, with the same keys.
  package let sender: DeviceAddress
  /// How far the device is proven to be its user's.
  package let trust: SenderTrust
  /// Whether the device would get keys of rooms from this one.
  package let isReader: Bool
}

/// Events of the app for devices and from them. In memory only: what is said here is of use now, or not at all.
struct DeviceMessages: Sendable {
  /// What an app sends at the same time.
  static let outgoingLimit = 64
  /// Messages of senders whose devices are not known yet, in all and of each user.
  static let incomingLimit = 200, incomingOfUser = 16
  static let incomingMilliseconds: Int64 = 60 * 1_000

  struct Outgoing: Sendable {
    let number: UInt64
    let type: ByteString
    let content: JSON
    let devices: Set<DeviceAddress>
    let users: [UserID]
    let since: Int64

    func isLate(at now: Int64) -> Bool { now - since >= RoomWriting.patienceMilliseconds }
  }

  struct Incoming: Sendable {
    let payload: OlmPayload
    let at: Int64
  }

  var outgoing: [Outgoing] = []
  private(set) var incoming: [Incoming] = []

  /// Whether the app may send events of this type, and gets them: those of keys and verifications are the machine's.
  static func isOfApp(_ type: ByteString) -> Bool {
    let prefixes: [StaticString] = ["m.room_key", "m.forwarded_room_key", "m.room.encrypted", "m.secret.", "m.key.", "m.dummy"]
    return !type.isEmpty && type.count <= EncryptionLimits.eventTypeBytes && !prefixes.contains { type.hasPrefix($0) }
  }

  mutating func add(_ payload: OlmPayload, at now: Int64) {
    guard Self.isOfApp(payload.type), incoming.count < Self.incomingLimit,
      incoming.count(where: { $0.payload.sender == payload.sender }) < Self.incomingOfUser
    else { return }
    incoming.append(Incoming(payload: payload, at: now))
  }

  /// Takes out those whose senders' devices are known; what has waited for too long is forgotten.
  mutating func takeKnown(by tracker: DeviceTracker, at now: Int64) -> [OlmPayload] {
    guard !incoming.isEmpty else { return [] }
    var known: [OlmPayload] = []
    incoming.removeAll { message in
      guard !tracker.isAwaited(message.payload.sender) else { return now - message.at >= Self.incomingMilliseconds }
      known.append(message.payload)
      return true
    }
    return known
  }
}
