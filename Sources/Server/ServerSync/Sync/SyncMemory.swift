import MatrixModel
import ServerCore
import Synchronization

/// What sync remembers of a user between requests; losing it costs reads, never events.
final class SyncMemory: Sendable {
  private struct State {
    var devices: [DeviceID: DeviceDelivery] = [:]
    var account: AccountSummary?
    var listing: RoomListing?
    var markers: RoomMarkers?
  }

  private let state = Mutex(State())

  func delivery(to device: DeviceID) -> DeviceDelivery {
    state.withLock { state in
      if let known = state.devices[device] { return known }
      let new = DeviceDelivery()
      state.devices[device] = new
      return new
    }
  }

  /// What was read of the user's account last.
  var account: AccountSummary? { state.withLock { $0.account } }

  func remember(_ account: AccountSummary) {
    state.withLock { if ($0.account?.readAt ?? -1) < account.readAt { $0.account = account } }
  }

  /// The user's rooms in order, as of the last time somebody asked.
  var listing: RoomListing? { state.withLock { $0.listing } }

  func remember(_ listing: RoomListing) { state.withLock { $0.listing = listing } }

  /// What the user's account data says of rooms, as of when it was read last.
  var markers: RoomMarkers? { state.withLock { $0.markers } }

  func remember(_ markers: RoomMarkers) {
    state.withLock { if ($0.markers?.readAt ?? -1) < markers.readAt { $0.markers = markers } }
  }
}

extension UserWatch {
  var syncMemory: SyncMemory {
    guard let memory = memory({ SyncMemory() }) as? SyncMemory else {
      preconditionFailure("the memory of a watch is that of sync")
    }
    return memory
  }

  func delivery(to device: DeviceID) -> DeviceDelivery { syncMemory.delivery(to: device) }

  /// What was read of the user's account, if nothing has changed since.
  var account: AccountSummary? {
    guard let account = syncMemory.account, account.readAt >= position.load(ordering: .sequentiallyConsistent) else {
      return nil
    }
    return account
  }
}

/// What sync needs of a user's account data for every answer.
package struct AccountSummary: Sendable {
  let readAt: Int64
  package let ignored: Set<UserID>
  /// Whether invitations are kept from them. Spec: "Invite permission".
  let blocksInvitations: Bool
  /// Of the newest change of the push rules or of the list of ignored users; 0 where there was none: what was counted before
  /// it is counted anew.
  let rulesPosition: Int64
}
