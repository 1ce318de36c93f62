import Database
import JSON
import MatrixModel
import ServerCore

/// The logins of users. Spec: Client-Server API, "Device Management".
package final class Devices: Sendable {
  package struct Device: Sendable {
    package let deviceID: DeviceID
    package let displayName: String?
    package let lastSeenAddress: String?
    /// Milliseconds since 1970, minutes behind.
    package let lastSeen: Int64
    /// When it was signed in, in milliseconds since 1970.
    package let created: Int64
  }

  /// Devices of one user; a login beyond it deletes the one seen longest ago.
  package static let countLimit = 1_000
  /// Bytes of a device's display name.
  package static let displayNameBytesLimit = 256

  private let database: Database
  private let lists: DeviceLists
  private let observers: [any AccountObserver]
  private let clock: WallClock

  package init(database: Database, lists: DeviceLists, observers: [any AccountObserver], clock: WallClock) {
    self.database = database
    self.lists = lists
    self.observers = observers
    self.clock = clock
  }

  /// The user's devices by ID.
  package func all(of userID: UserID) async throws -> [Device] {
    try await database.read { tx in
      try tx.all(
        """
        SELECT device_id, display_name, last_seen_address, last_seen, created FROM device WHERE user_id = $1 ORDER BY device_id
        """, userID, row: Self.device)
    }
  }

  /// Throws `M_NOT_FOUND`.
  package func device(_ deviceID: DeviceID, of userID: UserID) async throws -> Device {
    let device = try await database.read { tx in
      try tx.first(
        """
        SELECT device_id, display_name, last_seen_address, last_seen, created FROM device
        WHERE user_id = $1 AND device_id = $2
        """, userID, deviceID, row: Self.device)
    }
    guard let device else { throw Self.unknown }
    return device
  }

  /// Gives a device a name; nil leaves it as it is. Throws `M_NOT_FOUND`, `M_INVALID_PARAM`.
  package func rename(_ deviceID: DeviceID, of userID: UserID, to displayName: String?) async throws {
    if let displayName { try Self.check(displayName) }
    try await database.write { [self] tx in
      let found = try tx.changes(
        "UPDATE device SET display_name = COALESCE($1, display_name) WHERE user_id = $2 AND device_id = $3",
        displayName, userID, deviceID)
      guard found == 1 else { throw Self.unknown }
      // The name is part of what /keys/query tells of a device.
      if displayName != nil, try hasKeys(tx, userID, deviceID) { try lists.changed(tx, userID) }
    }
  }

  /// Names a device, or creates it, which only application services may do (v1.17). Returns
  /// whether it is new. Throws as `rename` does, and `M_FORBIDDEN` for the ID of a cross-signing key.
  package func put(_ deviceID: DeviceID, of userID: UserID, named displayName: String?, _ sessions: Sessions) async throws
    -> Bool
  {
    if let displayName { try Self.check(displayName) }
    let now = clock.now()
    do {
      try await database.write { [self] tx in
        try add(tx, deviceID, of: userID, named: displayName, now: now, sessions)
      }
      return true
    } catch let error as MatrixError where error.code == .invalidParameter {
      try await rename(deviceID, of: userID, to: displayName)
      return false
    }
  }

  /// Deletes devices with everything that belongs to them; those that do not exist are no error.
  package func delete(_ deviceIDs: Set<DeviceID>, of userID: UserID, _ sessions: Sessions) async throws {
    try await database.write { [self] tx in
      try remove(tx, of: userID, sessions) { deviceIDs.contains($0) }
    }
  }

  // MARK: Inside a transaction

  /// Makes or reuses the device and issues its only token. Throws `M_FORBIDDEN` for an ID that is a cross-signing key's.
  package func logIn(_ tx: WriteTransaction, _ userID: UserID, _ request: DeviceRequest, _ sessions: Sessions) throws -> Login {
    if let name = request.displayName { try Self.check(name) }
    let deviceID = request.deviceID ?? DeviceID(trusted: ByteString(RandomText.name(length: 10)))
    try checkIsNoKey(tx, deviceID, of: userID)
    guard try DehydratedDevices.device(tx, userID)?.deviceID != deviceID else {
      throw MatrixError.forbidden("This device ID is that of your dehydrated device.")
    }
    try keepWithinLimit(tx, userID, deviceID, sessions)
    try tx.execute(
      """
      INSERT INTO device(user_id, device_id, display_name, created, last_seen, last_seen_address)
      VALUES($1, $2, $3, $4, $4, $5)
      ON CONFLICT(user_id, device_id) DO UPDATE
        SET last_seen = excluded.last_seen, last_seen_address = COALESCE(excluded.last_seen_address, device.last_seen_address)
      """, userID, deviceID, request.displayName, clock.now(), request.address)
    return try sessions.issue(tx, userID, deviceID, isRefreshable: request.canRefresh)
  }

  /// Adds a device that nobody is logged in with. Throws `M_INVALID_PARAM` for an ID that is in use, `M_FORBIDDEN` for that
  /// of a cross-signing key.
  func add(
    _ tx: WriteTransaction, _ deviceID: DeviceID, of userID: UserID, named name: String?, now: Int64, _ sessions: Sessions
  ) throws {
    try checkIsNoKey(tx, deviceID, of: userID)
    try keepWithinLimit(tx, userID, deviceID, sessions)
    let added = try tx.changes(
      """
      INSERT INTO device(user_id, device_id, display_name, created, last_seen) VALUES($1, $2, $3, $4, $4)
      ON CONFLICT(user_id, device_id) DO NOTHING
      """, userID, deviceID, name, now)
    guard added == 1 else { throw MatrixError.invalidParameter("There is a device of this ID.") }
  }

  private func checkIsNoKey(_ tx: ReadTransaction, _ deviceID: DeviceID, of userID: UserID) throws {
    let isKey = try tx.first(
      "SELECT 1 FROM cross_signing_key WHERE user_id = $1 AND public_key = $2", userID, deviceID
    ) { _ in true }
    guard isKey == nil else { throw MatrixError.forbidden("This device ID is that of a cross-signing key.") }
  }

  /// Whether what a request does is still to be kept for its device: not if it was deleted since the request came. No device is always there.
  package static func isThere(_ deviceID: DeviceID, of userID: UserID, _ tx: ReadTransaction) throws -> Bool {
    guard deviceID != Session.noDevice else { return true }
    return try tx.first(existence, userID, deviceID) { _ in true } ?? false
  }

  private static let existence: StaticString = "SELECT 1 FROM device WHERE user_id = $1 AND device_id = $2"

  /// What `isThere` will read.
  static func questions(whether deviceID: DeviceID, isOf userID: UserID) -> [Question] {
    deviceID == Session.noDevice ? [] : [Question(existence, userID, deviceID)]
  }

  /// Deletes those devices of a user for which `isRemoved` says so: tokens, keys, waiting messages, transaction IDs.
  func remove(
    _ tx: WriteTransaction, of userID: UserID, _ sessions: Sessions, where isRemoved: (DeviceID) -> Bool
  ) throws {
    let devices = try tx.all("SELECT device_id FROM device WHERE user_id = $1", userID) { row in
      row.identifier(0, as: DeviceID.self)
    }
    var hadKeys = false
    for deviceID in devices where isRemoved(deviceID) {
      hadKeys = try hasKeys(tx, userID, deviceID) || hadKeys
      try tx.execute("DELETE FROM device WHERE user_id = $1 AND device_id = $2", userID, deviceID)
      try tx.execute("DELETE FROM dehydrated_device WHERE user_id = $1 AND device_id = $2", userID, deviceID)
      try tx.execute("DELETE FROM device_key WHERE user_id = $1 AND device_id = $2", userID, deviceID)
      try tx.execute("DELETE FROM one_time_key WHERE user_id = $1 AND device_id = $2", userID, deviceID)
      try tx.execute("DELETE FROM fallback_key WHERE user_id = $1 AND device_id = $2", userID, deviceID)
      try tx.execute("DELETE FROM key_signature WHERE target_user_id = $1 AND target = $2", userID, deviceID)
      let messages = try tx.changes("DELETE FROM to_device WHERE user_id = $1 AND device_id = $2", userID, deviceID)
      lists.census.add(-messages, to: .waitingMessages, in: tx)
      try tx.execute("DELETE FROM sent_transaction WHERE user_id = $1 AND device_id = $2", userID, deviceID)
    }
    try sessions.revoke(tx, userID, where: isRemoved)
    for observer in observers { try observer.removed(devicesOf: userID, where: isRemoved, in: tx) }
    if hadKeys { try lists.changed(tx, userID) }
  }

  private func keepWithinLimit(_ tx: WriteTransaction, _ userID: UserID, _ new: DeviceID, _ sessions: Sessions) throws {
    let count = try tx.first("SELECT COUNT(*) FROM device WHERE user_id = $1", userID) { $0.integer(0) } ?? 0
    guard count >= Self.countLimit else { return }
    let oldest = try tx.first(
      """
      SELECT device_id FROM device WHERE user_id = $1 AND device_id <> $2 AND device_id NOT IN
        (SELECT device_id FROM dehydrated_device WHERE user_id = $1)
      ORDER BY last_seen LIMIT 1
      """, userID, new
    ) { row in row.identifier(0, as: DeviceID.self) }
    try remove(tx, of: userID, sessions) { $0 == oldest }
  }

  private func hasKeys(_ tx: ReadTransaction, _ userID: UserID, _ deviceID: DeviceID) throws -> Bool {
    try tx.first("SELECT 1 FROM device_key WHERE user_id = $1 AND device_id = $2", userID, deviceID) { _ in true }
      ?? false
  }

  private static func device(_ row: Row) -> Device {
    Device(
      deviceID: row.identifier(0), displayName: row.optionalText(1), lastSeenAddress: row.optionalText(2),
      lastSeen: row.integer(3), created: row.integer(4))
  }

  static func check(_ displayName: String) throws(MatrixError) {
    guard displayName.utf8.count <= displayNameBytesLimit else {
      throw .invalidParameter("A device's display name has at most \(displayNameBytesLimit) bytes.")
    }
  }

  private static let unknown = MatrixError.notFound("The user has no such device.")
}
