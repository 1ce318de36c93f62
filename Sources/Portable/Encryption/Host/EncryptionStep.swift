import JSON
import MatrixModel

/// What a client does for its machine after an input, in this order: it takes the deliveries, writes the changes, asks and shows what came with them
/// once they are durable, and reads the records.
package struct EncryptionStep: Sendable {
  /// For the client, at once. If it writes a batch of its own because of them, the changes go into the same one.
  package var deliveries: [EncryptionDelivery] = []
  package var changes: [RecordChange] = []
  /// Once the changes are durable.
  package var later: [EncryptionDelivery] = []
  /// Once the changes are durable.
  package var keyTransfers: [KeyTransfer] = []
  /// Once the changes are durable.
  package var histories: [HistoryOffer] = []
  package var requests: [MachineRequest] = []
  /// Records whose keys begin with one of these. They are answered together.
  package var loads: [ByteString] = []

  package init() {}

  package mutating func add(_ other: Self) {
    deliveries += other.deliveries
    changes += other.changes
    later += other.later
    keyTransfers += other.keyTransfers
    histories += other.histories
    requests += other.requests
    loads += other.loads
  }
}

/// A `RoomKeyBundle` that is to be downloaded, and then imported; see `MachineInput.historyTaken`.
package struct HistoryOffer: Sendable {
  package let room: RoomID
  package let giver: UserID
  /// An `EncryptedFile`.
  package let file: JSON
}

/// What `MachineInput.exportKeys` and `importKeys` end with.
package enum KeyTransfer: Sendable {
  case exported(UInt64, [RoomKey])
  case imported(UInt64, new: Int)

  package var number: UInt64 {
    switch self {
    case .exported(let number, _), .imported(let number, _): number
    }
  }
}

package enum EncryptionDelivery: Sendable {
  /// The body of an answer to a request of the client.
  case answer(UInt32, [UInt8])
  /// The records of a load of the client.
  case records(UInt32, [EncryptionRecord])
  /// The content of `m.room.encrypted` for a message.
  case encrypted(UInt64, [UInt8])
  case blocked(UInt64, Blocked)
  /// Events whose keys came late, in clear text.
  case late(RoomID, [JSON])
  /// An event of the app from another device.
  case received(ReceivedMessage)
  /// The end of a command.
  case ended(UInt64, EncryptionOutcome)
  case news(TrustNews)
}
