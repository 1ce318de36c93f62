import JSON
import MatrixModel
import Olm

/// What the host has to do. First the writes: they are durable before anything else of the output leaves the machine. If they fail, the host begins
/// anew with another machine from what the store has.
package struct MachineOutput: Sendable {
  /// In one batch: whole, or not at all.
  package var writes: [RecordChange] = []
  /// In the order in which they happened.
  package var results: [MachineResult] = []
  package var requests: [MachineRequest] = []
  /// Records to read: all whose keys begin with one of these. They are answered together by `MachineInput.loaded`; until then all else waits.
  package var loads: [ByteString] = []
  /// When to say `MachineInput.woken`, in milliseconds since 1970; it replaces what an earlier output said. nil: not at all.
  package var wakeAt: Int64?

  package init() {}
}

package enum MachineResult: Sendable {
  /// All of a sync was taken.
  case synced
  case decrypted(UInt64, [DecryptedEvent])
  /// A key came late, or a list of devices: events that could not be read can be now, are unreadable for another reason, or are proven.
  case late([DecryptedEvent])
  /// The content of `m.room.encrypted`. The host writes it down with the writes of this output: no index is used twice.
  case encrypted(UInt64, [UInt8])
  case blocked(UInt64, Blocked)
  /// The members' devices have the key of the room's next message.
  case prepared(RoomID)
  case exportedKeys(UInt64, [RoomKey])
  /// Of so many keys more can be read now than before.
  case importedKeys(UInt64, new: Int)
  /// Who has invited the user offers the room's history: an `EncryptedFile` with a `RoomKeyBundle`, to be downloaded.
  case history(RoomID, from: UserID, JSON)
  case devices(DeviceNews)
  case identities(IdentityNews)
  case ended(UInt64, EncryptionOutcome)
  case received(ReceivedMessage)
  /// An event for this device that cannot be taken.
  case refused(UserID, OlmRefusal)
  case broken(Broken)
}

package struct DecryptedEvent: Sendable {
  package let event: EncryptedEvent
  package let outcome: Result<ClearEvent, Undecryptable>
  /// How far the event is proven to be its sender's, as far as this was known when it was read; nil while the sender's devices are not known.
  package let trust: SenderTrust?
}

extension DecryptedEvent {
  /// nil where it cannot be read.
  var clear: ClearEvent? { if case .success(let clear) = outcome { clear } else { nil } }

  /// The event in clear text, or with the reason why it cannot be read.
  package var json: JSON? {
    try? JSON.object { writer in
      writer.member("event_id", event.id)
      writer.member("sender", event.sender)
      writer.member("origin_server_ts", event.timestamp)
      switch outcome {
      case .success(let clear):
        writer.member("type", clear.type)
        writer.member("content", clear.content)
        EncryptedAnswer.write(clear, trust, to: &writer)
      case .failure(let reason):
        writer.member("type", EventType.encrypted)
        writer.key("content")
        writer.object { writer in
          if let relation = event.relation { writer.member("m.relates_to", relation) }
          writer.member(EncryptedAnswer.reason, reason.name)
        }
      }
    }
  }
}

/// Why a message is not encrypted. Nothing of it has left this device.
package enum Blocked: Equatable, Sendable {
  /// The room was never seen encrypted: the host sends it as it is, or not at all.
  case notEncrypted
  /// The room's algorithm is unknown here.
  case unknownAlgorithm
  /// The content cannot be written.
  case malformed
  /// This device cannot encrypt any more (`Broken`).
  case broken
  /// The user has to decide first.
  case undecided(SharingBlock)
}

/// Why this device cannot go on. People have to be told; it has to sign in anew.
package enum Broken: Equatable, Sendable {
  /// The store's records are of another user or device.
  case ofAnotherDevice
  /// What must not be lost cannot be read.
  case unreadableStore
  /// The store was written by a newer version.
  case newerStore
  /// The server has this device with keys that the store never had: those were lost, and nobody would believe new ones.
  case lostKeys
  /// The server has other keys under this device's names, twice.
  case refusedKeys
  /// The server lists this device with other keys than it has.
  case changedOwnKeys
}

package struct MachineRequest: Sendable {
  package typealias ID = UInt64

  package let id: ID
  package let endpoint: Endpoint
  /// Of the endpoint's path, in order.
  package let parameters: [ByteString]
  /// The query parameter `version`, if there is one.
  package let version: ByteString?
  /// Empty for none.
  package let body: [UInt8]

  init(id: ID, endpoint: Endpoint, parameters: [ByteString] = [], version: ByteString? = nil, body: [UInt8]) {
    self.id = id
    self.endpoint = endpoint
    self.parameters = parameters
    self.version = version
    self.body = body
  }

  /// Path and query.
  package var target: String {
    let query = version.map { "?version=" + PercentEncoding.encode($0) } ?? ""
    return endpoint.path(of: parameters) + query
  }
}
