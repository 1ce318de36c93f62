import JSON
import MatrixModel
import Olm

/// What the host tells the machine. Inputs are dealt with in the order in which they come, also where one waits for the store.
package enum MachineInput: Sendable {
  /// Answer to `MachineOutput.loads`: all records of all of them.
  case loaded([EncryptionRecord])
  /// Ends with `MachineResult.synced`; the token of the sync is written with that output or after it.
  case sync(SyncedKeys)
  /// `m.room.encryption` of a room, as its state has it.
  case encryption(RoomID, JSON)
  /// These left the room, were removed, or declined; nobody is named where that may have happened unseen.
  case departed(RoomID, [UserID])
  /// Events of a timeline. Ends with `MachineResult.decrypted` of the same number.
  case decrypt(UInt64, [EncryptedEvent])
  /// Messages of verifications that came to rooms unencrypted.
  case verification([VerificationMessage])
  /// People of an encrypted room that is shown. Writing to them follows their devices anyway.
  case track([UserID])
  /// Somebody begins to write: the readers get the key by now.
  case prepare(RoomMembers)
  /// Ends with `encrypted` or `blocked` of the same number. Messages of one room come out in the order in which they went in.
  case encrypt(UInt64, RoomMembers, EventType, JSON)
  /// Ends with `MachineResult.ended` of the same number.
  case command(UInt64, EncryptionCommand)
  /// From now on, and after a restart.
  case share(SharingPolicy)
  /// See `UserIdentity.acknowledge`: the user has seen that the master key has changed.
  case acknowledge(UserID, Ed25519Key)
  /// See `UserIdentity.withdrawVerification`.
  case withdrawVerification(of: UserID, Ed25519Key)
  case answered(MachineRequest.ID, JSON)
  case failed(MachineRequest.ID, RequestFailure)
  /// For a key file: the keys of one of `EncryptionMachine.keySlices`, of one room or of all. Ends with `exportedKeys` of the same number.
  case exportKeys(UInt64, of: RoomID?, slice: UInt8)
  /// From a key file. Ends with `importedKeys` of the same number.
  case importKeys(UInt64, [RoomKey])
  /// The user has accepted an invitation of that person: what they offer of the room's history is wanted.
  case accepted(RoomID, from: UserID)
  /// What `MachineResult.history` named is imported, or cannot be had.
  case historyTaken(RoomID, from: UserID)
  /// The network is back: nothing has to wait any more.
  case reachable
  /// It is `MachineOutput.wakeAt`.
  case woken
}

/// What a sync says of keys and devices. Spec: Client-Server API, "Extensions to /sync" of end-to-end encryption.
package struct SyncedKeys: Sendable {
  /// `to_device.events`.
  package var toDevice: [JSON] = []
  /// `device_lists.changed`.
  package var changed: [UserID] = []
  /// `device_lists.left`.
  package var left: [UserID] = []
  /// `device_one_time_keys_count`.
  package var keyCounts: JSON?
  /// `device_unused_fallback_key_types`.
  package var unusedFallbacks: JSON?
  /// Whether changes of devices may have been missed: there was no token, or the server did not know it.
  package var hasGap = false

  package init() {}
}

/// A room and who may read its messages, as the host knows them when it asks.
package struct RoomMembers: Sendable {
  package let room: RoomID
  /// Those who have joined and, where the room's history visibility lets them read, those who are invited.
  package internal(set) var users: [UserID]
  /// Whether members who come later may get the keys.
  package let sharesHistory: Bool

  package init(_ room: RoomID, users: [UserID], sharesHistory: Bool) {
    self.room = room
    self.users = users
    self.sharesHistory = sharesHistory
  }
}

package enum RequestFailure: Equatable, Sendable {
  /// There was no answer, or one that another try may change. The machine tries again by itself.
  case unreachable
  /// The server says no. Another try would be refused, too.
  case refused
}
