import Database
import JSON
import MatrixModel
import ServerCore

/// Identity keys of devices: uploaded by one, read by everyone who writes to it.
///
/// Spec: Client-Server API, "Device keys".
package final class DeviceKeys: Sendable {
  /// What a device uploads.
  package struct Upload: Sendable {
    package let deviceKeys: JSON?
    package let oneTimeKeys: JSON?
    package let fallbackKeys: JSON?

    /// Throws `M_BAD_JSON`.
    package init(_ body: JSON) throws(MatrixError) {
      deviceKeys = try body.optionalObject("device_keys")
      oneTimeKeys = try body.optionalObject("one_time_keys")
      fallbackKeys = try body.optionalObject("fallback_keys")
    }
  }

  /// Bytes of a device's identity keys, or of a cross-signing key, with the signatures they are uploaded with.
  package static let bytesLimit = 16 << 10

  private let database: Database
  private let lists: DeviceLists
  private let notifier: Notifier

  package init(database: Database, lists: DeviceLists, notifier: Notifier) {
    self.database = database
    self.lists = lists
    self.notifier = notifier
  }

  /// Stores what a device uploads; the answer is its unclaimed one-time keys by algorithm.
  ///
  /// Throws `M_INVALID_PARAM` for keys of another user or device and for a one-time key that is there with another value.
  package func upload(_ upload: Upload, from session: Session) async throws -> [(algorithm: ByteString, count: Int64)] {
    if let keys = upload.deviceKeys { try Self.check(keys, session.userID, session.deviceID) }
    let (userID, deviceID) = (session.userID, session.deviceID)
    return try await database.write { [lists, notifier] tx in
      guard try Devices.isThere(deviceID, of: userID, tx) else { throw MatrixError.unknownToken() }
      if let keys = upload.deviceKeys, try Self.store(tx, keys, userID, deviceID) { try lists.changed(tx, userID) }
      if let keys = upload.oneTimeKeys {
        lists.census.add(try OneTimeKeys.store(tx, keys, of: userID, deviceID), to: .uploadedKeys, in: tx)
      }
      if let keys = upload.fallbackKeys { try OneTimeKeys.storeFallback(tx, keys, of: userID, deviceID) }
      if upload.oneTimeKeys != nil || upload.fallbackKeys != nil {
        let position = tx.nextPosition()
        notifier.publish(position: position, users: [userID], in: tx)
      }
      return try OneTimeKeys.counts(tx, of: userID, deviceID)
    }
  }

  static func check(_ keys: JSON, _ userID: UserID, _ deviceID: DeviceID) throws(MatrixError) {
    guard try keys.requiredText("user_id") == userID.text, try keys.requiredText("device_id") == deviceID.text
    else { throw .invalidParameter("The keys are not those of this user and device.") }
    guard keys.bytes.count <= bytesLimit else {
      throw .tooLarge("The keys of a device have at most \(bytesLimit) bytes.")
    }
    _ = try keys.requiredArray("algorithms")
    _ = try keys.requiredObject("keys")
    _ = try keys.requiredObject("signatures")
  }

  /// Whether they are others than before.
  static func store(_ tx: WriteTransaction, _ keys: JSON, _ userID: UserID, _ deviceID: DeviceID) throws -> Bool {
    let known = try tx.first(
      "SELECT json FROM device_key WHERE user_id = $1 AND device_id = $2", userID, deviceID
    ) { $0.blob(0) }
    if let known, known.elementsEqual(keys.bytes) { return false }
    try tx.execute(
      """
      INSERT INTO device_key(user_id, device_id, json) VALUES($1, $2, $3)
      ON CONFLICT(user_id, device_id) DO UPDATE SET json = excluded.json
      """, userID, deviceID, keys.bytes)
    if known != nil {
      try tx.execute("DELETE FROM key_signature WHERE target_user_id = $1 AND target = $2", userID, deviceID)
    }
    return true
  }

  // MARK: Query

  /// A device's keys, ready to be sent: the signatures others added and `unsigned.device_display_name` are in.
  package struct Published: Sendable {
    package let deviceID: DeviceID
    package let json: [UInt8]
  }

  /// The keys of a user's devices that `asker` may see: of `devices`, or of all where the list is empty.
  package static func published(
    _ tx: ReadTransaction, of userID: UserID, devices: [DeviceID], to asker: UserID
  ) throws -> [Published] {
    let rows = try tx.all(
      """
      SELECT k.device_id, k.json, d.display_name FROM device_key k
      JOIN device d ON d.user_id = k.user_id AND d.device_id = k.device_id WHERE k.user_id = $1 ORDER BY k.device_id
      """, userID
    ) { row in (deviceID: row.identifier(0, as: DeviceID.self), json: row.blob(1), name: row.optionalText(2)) }
    return try rows.filter { devices.isEmpty || devices.contains($0.deviceID) }.map { row in
      let signatures = try KeySignatures.visible(tx, of: userID, target: row.deviceID.text, to: asker)
      var unsigned = JSONWriter()
      unsigned.object { if let name = row.name { $0.member("device_display_name", name) } }
      return Published(
        deviceID: row.deviceID, json: try KeySignatures.merged(row.json, signatures, unsigned: unsigned.bytes))
    }
  }
}
