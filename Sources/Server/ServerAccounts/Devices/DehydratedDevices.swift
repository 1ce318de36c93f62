import Database
import JSON
import MatrixModel
import ServerCore

/// A device without a login that takes messages while its owner is away: its private keys lie here, encrypted, until a
/// client takes them over.
///
/// A user has one at most. It is a device like others for everyone who sends to it. It outlives `logout/all`, for which it
/// is made, and goes when it is replaced, deleted, or deleted as a device. Its messages stay until then: a client that takes
/// it over may be interrupted and begin again.
/// Source: MSC3814, "Dehydrated devices with SSSS".
package final class DehydratedDevices: Sendable {
  package struct Device: Sendable {
    package let deviceID: DeviceID
    /// The `device_data` object's bytes, as they came.
    package let data: [UInt8]
  }

  /// What a client uploads.
  package struct Upload: Sendable {
    let deviceID: DeviceID
    let displayName: String?
    let data: [UInt8]
    let deviceKeys: JSON
    let oneTimeKeys: JSON?
    let fallbackKeys: JSON?

    /// Throws `M_MISSING_PARAM`, `M_BAD_JSON`, `M_INVALID_PARAM`, `M_TOO_LARGE`.
    package init(_ body: JSON) throws(MatrixError) {
      deviceID = try body.requiredIdentifier("device_id")
      displayName = try body.optionalText("initial_device_display_name")?.string
      let data = try body.requiredObject("device_data")
      guard data.bytes.count <= dataBytesLimit else {
        throw .tooLarge("'device_data' has at most \(dataBytesLimit) bytes.")
      }
      self.data = Array(data.bytes)
      deviceKeys = try body.requiredObject("device_keys")
      oneTimeKeys = try body.optionalObject("one_time_keys")
      fallbackKeys = try body.optionalObject("fallback_keys")
    }
  }

  /// Bytes of `device_data`: an encrypted Olm account of some 20 KB.
  package static let dataBytesLimit = 256 << 10

  private let database: Database
  private let devices: Devices
  private let lists: DeviceLists
  private let sessions: Sessions
  private let clock: WallClock

  package init(database: Database, devices: Devices, lists: DeviceLists, sessions: Sessions, clock: WallClock) {
    self.database = database
    self.devices = devices
    self.lists = lists
    self.sessions = sessions
    self.clock = clock
  }

  /// Stores a device in the place of the one before. Throws `M_INVALID_PARAM` for keys that are not its own and for the ID
  /// of another device of the user.
  package func replace(with upload: Upload, of userID: UserID) async throws {
    try DeviceKeys.check(upload.deviceKeys, userID, upload.deviceID)
    if let name = upload.displayName { try Devices.check(name) }
    try await database.write { [self] tx in
      if let old = try Self.device(tx, userID) {
        try devices.remove(tx, of: userID, sessions) { $0 == old.deviceID }
      }
      try devices.add(tx, upload.deviceID, of: userID, named: upload.displayName, now: clock.now(), sessions)
      try tx.execute(
        "INSERT INTO dehydrated_device(user_id, device_id, json) VALUES($1, $2, $3)", userID, upload.deviceID, upload.data)
      _ = try DeviceKeys.store(tx, upload.deviceKeys, userID, upload.deviceID)
      if let keys = upload.oneTimeKeys { try OneTimeKeys.store(tx, keys, of: userID, upload.deviceID) }
      if let keys = upload.fallbackKeys { try OneTimeKeys.storeFallback(tx, keys, of: userID, upload.deviceID) }
      try lists.changed(tx, userID)
    }
  }

  /// Throws `M_NOT_FOUND`.
  package func device(of userID: UserID) async throws -> Device {
    guard let device = try await database.read({ tx in try Self.device(tx, userID) }) else { throw Self.none }
    return device
  }

  /// Deletes the device with its keys and messages; the answer is its ID. Throws `M_NOT_FOUND`.
  package func delete(of userID: UserID) async throws -> DeviceID {
    try await database.write { [self] tx in
      guard let device = try Self.device(tx, userID) else { throw Self.none }
      try devices.remove(tx, of: userID, sessions) { $0 == device.deviceID }
      return device.deviceID
    }
  }

  /// Messages that wait for the device after a position, in order, at most as many as in a sync; with the position of the
  /// last, to go on from.
  ///
  /// Throws `M_NOT_FOUND` where the user has no such dehydrated device, `M_INVALID_PARAM` for a token of something else.
  package func messages(for deviceID: DeviceID, of userID: UserID, after token: ByteString?) async throws
    -> (messages: [ToDeviceMessages.Message], next: ByteString)
  {
    let start = try token.map { try Self.position($0) } ?? 0
    return try await database.read { tx in
      guard try Self.device(tx, userID)?.deviceID == deviceID else { throw Self.none }
      let page = try ToDeviceMessages.messages(tx, for: userID, deviceID, after: start, upTo: .max)
      return (page.messages, ByteString("d\(page.messages.last?.position ?? start)"))
    }
  }

  private static func position(_ token: ByteString) throws(MatrixError) -> Int64 {
    guard token.hasPrefix("d"), let position = Int64(token.string.dropFirst()), position >= 0 else {
      throw .invalidParameter("'next_batch' is not one of this endpoint's.")
    }
    return position
  }

  // MARK: Inside a transaction

  static func device(_ tx: ReadTransaction, _ userID: UserID) throws -> Device? {
    try tx.first("SELECT device_id, json FROM dehydrated_device WHERE user_id = $1", userID) { row in
      Device(deviceID: row.identifier(0), data: row.blob(1))
    }
  }

  private static let none = MatrixError.notFound("There is no such dehydrated device.")
}
