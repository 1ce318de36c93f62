import Database
import JSON
import MatrixModel
import ServerCore
import Synchronization

/// Messages from device to device, kept until the device has them. Spec: Client-Server API, "Send-to-Device messaging".
package final class ToDeviceMessages: NoteFollower {
  /// One message as sync shows it.
  package struct Message: Sendable {
    package let position: Int64
    package let sender: UserID
    package let type: EventType
    /// The `content` object's bytes.
    package let content: [UInt8]

    /// As `{"type":…,"sender":…,"content":…}`.
    package func write(to writer: inout JSONWriter) {
      writer.object { writer in
        writer.member("type", type)
        writer.member("sender", sender)
        writer.member("content", raw: content)
      }
    }
  }

  /// Messages one request may name, and those it may become when `*` stands for every device of a user.
  package static let namedLimit = 1_000
  package static let receiversLimit = 10_000
  /// Messages of one sync; the spec recommends it.
  package static let pageLimit = 100
  /// Messages that wait for one device; the oldest go when there are more.
  package static let waitingLimit = 10_000
  /// Bytes of one message's content, as of an event.
  package static let contentBytesLimit = 65_536

  /// Devices of which it is remembered how much waits.
  private static let countedDevicesLimit = 100_000

  struct Receiver: Hashable {
    let userID: UserID
    let deviceID: DeviceID
  }

  struct Waiting {
    /// As many messages wait, or fewer.
    var atMost: Int
    /// Sends of this node whose notes are still to come.
    var unpublished = 0
  }

  /// For devices that were sent something. Counting what waits with each message would cost the more the longer a device is away.
  let waiting = Mutex<[Receiver: Waiting]>([:])
  private let database: Database
  private let notifier: Notifier
  private let clock: WallClock
  private let census: DeviceCensus

  package init(database: Database, notifier: Notifier, clock: WallClock, census: DeviceCensus) {
    self.census = census
    self.database = database
    self.notifier = notifier
    self.clock = clock
    database.follow(.toDevice, by: self)
  }

  /// Sends `messages` (user ID, then device ID or `*`, then content). Repeating a transaction ID sends nothing again.
  ///
  /// Users and devices this server does not know are passed over. Throws `M_BAD_JSON`, `M_TOO_LARGE`.
  package func send(
    _ type: EventType, _ transactionID: TransactionID, from session: Session, messages: JSON
  ) async throws {
    var named = 0
    for user in messages.members {
      guard user.value.isObject else { throw MatrixError.badJSON("'messages' is not a map of users to devices.") }
      for device in user.value.members {
        named += 1
        guard named <= Self.namedLimit else {
          throw MatrixError.tooLarge("At most \(Self.namedLimit) messages are sent at once.")
        }
        guard device.value.isObject else { throw MatrixError.badJSON("The content of a message is not an object.") }
        guard device.value.bytes.count <= Self.contentBytesLimit else {
          throw MatrixError.tooLarge("A message to a device has at most \(Self.contentBytesLimit) bytes.")
        }
      }
    }
    let now = clock.now()
    let questions = { @Sendable in
      Devices.questions(whether: session.deviceID, isOf: session.userID)
        + messages.members.lazy.compactMap { UserID($0.key) }.prefix(Self.askedUsersLimit).map { Question(Self.devicesOf, $0) }
    }
    try await database.write(asking: questions) { [self] tx in
      guard try Devices.isThere(session.deviceID, of: session.userID, tx) else { return }
      let isNew = try tx.changes(
        """
        INSERT INTO sent_transaction(user_id, device_id, scope, transaction_id, event_id, sent)
        VALUES($1, $2, $3, $4, '', $5) ON CONFLICT(user_id, device_id, scope, transaction_id) DO NOTHING
        """, session.userID, session.deviceID, "sendToDevice/" + type.string, transactionID, now)
      guard isNew == 1 else { return }
      let receivers = try store(tx, type, session.userID, messages, onlyToThemself: session.standing.isShadowBanned)
      guard let last = receivers.map(\.position).max() else { return }
      census.add(receivers.count, to: .sentMessages, in: tx)
      census.add(receivers.count, to: .waitingMessages, in: tx)
      notifier.publish(position: last, users: Array(Set(receivers.map(\.userID))), in: tx)
    }
  }

  private static let devicesOf: StaticString = "SELECT device_id FROM device WHERE user_id = $1"
  /// Of how many receivers the devices are asked for in advance.
  private static let askedUsersLimit = 16

  private func store(
    _ tx: WriteTransaction, _ type: EventType, _ sender: UserID, _ messages: JSON, onlyToThemself: Bool
  ) throws -> [(userID: UserID, position: Int64)] {
    var receivers: [(userID: UserID, position: Int64)] = []
    for user in messages.members {
      guard let userID = UserID(user.key), !onlyToThemself || userID == sender else { continue }
      let known = try tx.all(Self.devicesOf, userID) { row in
        row.identifier(0, as: DeviceID.self)
      }
      var added: [DeviceID: Int] = [:]
      for device in user.value.members {
        for deviceID in known where device.key == "*" || deviceID.text == device.key {
          let position = tx.nextPosition()
          try tx.execute(
            "INSERT INTO to_device(user_id, device_id, position, sender, type, content) VALUES($1, $2, $3, $4, $5, $6)",
            userID, deviceID, position, sender, type, device.value.bytes)
          receivers.append((userID, position))
          added[deviceID, default: 0] += 1
          guard receivers.count <= Self.receiversLimit else {
            throw MatrixError.tooLarge("One request reaches at most \(Self.receiversLimit) devices.")
          }
        }
      }
      for (deviceID, count) in added { try dropOldest(tx, userID, deviceID, added: count) }
      if !added.isEmpty { note(Array(added.keys), of: userID, in: tx) }
    }
    return receivers
  }

  /// Holds a device that got `added` messages to the limit. Counts what waits only where it may be too much.
  private func dropOldest(_ tx: WriteTransaction, _ userID: UserID, _ deviceID: DeviceID, added: Int) throws {
    let device = Receiver(userID: userID, deviceID: deviceID)
    let known = waiting.withLock { $0[device] }
    var atMost = known.map { $0.atMost + added } ?? .max
    if atMost > Self.waitingLimit {
      let count = try tx.first(
        "SELECT COUNT(*) FROM to_device WHERE user_id = $1 AND device_id = $2", userID, deviceID
      ) { Int($0.integer(0)) }
      atMost = min(count ?? 0, Self.waitingLimit)
      try drop(tx, device, (count ?? 0) - atMost)
    }
    waiting.withLock { [atMost] devices in
      if devices.count >= Self.countedDevicesLimit { devices.removeAll(keepingCapacity: true) }
      devices[device, default: Waiting(atMost: 0)].atMost = atMost
    }
  }

  /// Has other nodes forget how much waits for devices, which they do not count. So does this node if the job is undone.
  private func note(_ devices: [DeviceID], of userID: UserID, in tx: WriteTransaction) {
    let receivers = devices.map { Receiver(userID: userID, deviceID: $0) }
    waiting.withLock { waiting in for receiver in receivers { waiting[receiver]?.unpublished += 1 } }
    tx.onRollback { self.waiting.withLock { waiting in for receiver in receivers { waiting[receiver] = nil } } }
    tx.note(.toDevice(userID, devices))
  }

  package func apply(_ note: Note, _ rows: CommittedRows) {
    guard case .toDevice(let userID, let devices) = note else { return }
    waiting.withLock { waiting in
      for device in devices.map({ Receiver(userID: userID, deviceID: $0) }) {
        guard let known = waiting[device] else { continue }
        waiting[device] = known.unpublished > 0 ? Waiting(atMost: known.atMost, unpublished: known.unpublished - 1) : nil
      }
    }
  }

  package func reload(_ rows: CommittedRows) { waiting.withLock { $0 = [:] } }

  private func drop(_ tx: WriteTransaction, _ device: Receiver, _ count: Int) throws {
    guard count > 0 else { return }
    let dropped = try tx.changes(
      """
      DELETE FROM to_device WHERE user_id = $1 AND device_id = $2 AND position <= (
        SELECT position FROM to_device WHERE user_id = $1 AND device_id = $2 ORDER BY position LIMIT 1 OFFSET $3)
      """, device.userID, device.deviceID, count - 1)
    census.add(dropped, to: .droppedMessages, in: tx)
    census.add(-dropped, to: .waitingMessages, in: tx)
  }

  // MARK: For sync

  /// What waits for the device after `start`, up to and with `end`, in order, at most `limit`. Where `isLimited`, there is
  /// more: the sync token must then not pass the last message's position for this stream.
  package static func messages(
    _ tx: ReadTransaction, for userID: UserID, _ deviceID: DeviceID, after start: Int64, upTo end: Int64,
    limit: Int = pageLimit
  ) throws -> (messages: [Message], isLimited: Bool) {
    let found = try tx.all(
      """
      SELECT position, sender, type, content FROM to_device
      WHERE user_id = $1 AND device_id = $2 AND position > $3 AND position <= $4 ORDER BY position LIMIT $5
      """, userID, deviceID, start, end, limit + 1
    ) { row in
      Message(position: row.integer(0), sender: row.identifier(1), type: row.identifier(2), content: row.blob(3))
    }
    return (Array(found.prefix(limit)), found.count > limit)
  }

  /// Deletes what the device has: it came back with the sync token of `position`. Costs no write where nothing waits.
  package func acknowledge(for userID: UserID, _ deviceID: DeviceID, upTo position: Int64) async throws {
    let isNeeded = try await database.read { tx in
      try tx.first(
        "SELECT 1 FROM to_device WHERE user_id = $1 AND device_id = $2 AND position <= $3", userID, deviceID, position
      ) { _ in true } ?? false
    }
    guard isNeeded else { return }
    try await database.write { [census] tx in
      let count = try tx.changes(
        "DELETE FROM to_device WHERE user_id = $1 AND device_id = $2 AND position <= $3", userID, deviceID, position)
      census.add(-count, to: .waitingMessages, in: tx)
    }
  }
}
