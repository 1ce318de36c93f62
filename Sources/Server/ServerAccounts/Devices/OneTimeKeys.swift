import Database
import JSON
import MatrixModel
import ServerCore

/// One-time and fallback keys of devices. Spec: Client-Server API, "One-time and fallback keys".
package final class OneTimeKeys: Sendable {
  /// What `/keys/claim` asks for.
  package struct Wanted: Hashable, Sendable {
    package let userID: UserID
    package let deviceID: DeviceID
    package let algorithm: ByteString

    package init(userID: UserID, deviceID: DeviceID, algorithm: ByteString) {
      self.userID = userID
      self.deviceID = deviceID
      self.algorithm = algorithm
    }
  }

  package struct Claimed: Sendable {
    package let wanted: Wanted
    /// `<algorithm>:<key_id>`
    package let keyID: ByteString
    package let json: [UInt8]
  }

  /// One-time keys of one device and algorithm.
  package static let countLimit = 1_000
  /// Uploads of a device, the newest, whose keys are remembered after they were claimed.
  private static let rememberedUploads: Int64 = 4
  /// Algorithms of one device's keys; every sync answer has a count for each.
  package static let algorithmsLimit = 20

  private let database: Database
  private let notifier: Notifier
  private let census: DeviceCensus

  package init(database: Database, notifier: Notifier, census: DeviceCensus) {
    self.database = database
    self.notifier = notifier
    self.census = census
  }

  /// Takes one key each, a fallback key where there is no one-time key. No key is given out twice, fallback keys excepted.
  package func claim(_ wanted: [Wanted]) async throws -> [Claimed] {
    try await database.write { [notifier, census] tx in
      var claimed: [Claimed] = []
      var fallbacks = 0
      for wanted in wanted {
        if let key = try Self.takeOneTime(tx, wanted) {
          claimed.append(key)
        } else if let key = try Self.takeFallback(tx, wanted) {
          claimed.append(key)
          fallbacks += 1
        }
      }
      census.add(claimed.count - fallbacks, to: .claimedKeys, in: tx)
      census.add(fallbacks, to: .fallbackClaims, in: tx)
      census.add(wanted.count - claimed.count, to: .emptyClaims, in: tx)
      guard !claimed.isEmpty else { return claimed }
      // The counts are part of every sync answer: their owners are woken to see that keys run out.
      let position = tx.nextPosition()
      let owners = Set(claimed.map(\.wanted.userID))
      notifier.publish(position: position, users: Array(owners), in: tx)
      return claimed
    }
  }

  private static func takeOneTime(_ tx: WriteTransaction, _ wanted: Wanted) throws -> Claimed? {
    let key = try tx.first(
      """
      SELECT key_id, json FROM one_time_key WHERE user_id = $1 AND device_id = $2 AND algorithm = $3 AND claimed = 0
      ORDER BY upload, key_id LIMIT 1
      """, wanted.userID, wanted.deviceID, wanted.algorithm
    ) { row in (id: row.text(0), json: row.blob(1)) }
    guard let key else { return nil }
    try tx.execute(
      "UPDATE one_time_key SET claimed = 1 WHERE user_id = $1 AND device_id = $2 AND algorithm = $3 AND key_id = $4",
      wanted.userID, wanted.deviceID, wanted.algorithm, key.id)
    return Claimed(wanted: wanted, keyID: ByteString(wanted.algorithm.string + ":" + key.id), json: key.json)
  }

  private static func takeFallback(_ tx: WriteTransaction, _ wanted: Wanted) throws -> Claimed? {
    let key = try tx.first(
      "SELECT key_id, json FROM fallback_key WHERE user_id = $1 AND device_id = $2 AND algorithm = $3",
      wanted.userID, wanted.deviceID, wanted.algorithm
    ) { row in (id: row.text(0), json: row.blob(1)) }
    guard let key else { return nil }
    try tx.execute(
      "UPDATE fallback_key SET used = 1 WHERE user_id = $1 AND device_id = $2 AND algorithm = $3 AND used = 0",
      wanted.userID, wanted.deviceID, wanted.algorithm)
    return Claimed(wanted: wanted, keyID: ByteString(wanted.algorithm.string + ":" + key.id), json: key.json)
  }

  // MARK: For sync and /keys/upload

  /// Unclaimed one-time keys by algorithm.
  package static func counts(_ tx: ReadTransaction, of userID: UserID, _ deviceID: DeviceID) throws
    -> [(algorithm: ByteString, count: Int64)]
  {
    try tx.all(
      """
      SELECT algorithm, COUNT(*) FROM one_time_key WHERE user_id = $1 AND device_id = $2 AND claimed = 0
      GROUP BY algorithm ORDER BY algorithm
      """, userID, deviceID
    ) { row in (ByteString(row.text(0)), row.integer(1)) }
  }

  /// Algorithms whose fallback key nobody has got yet.
  package static func unusedFallbackAlgorithms(_ tx: ReadTransaction, of userID: UserID, _ deviceID: DeviceID) throws
    -> [ByteString]
  {
    try tx.all(
      "SELECT algorithm FROM fallback_key WHERE user_id = $1 AND device_id = $2 AND used = 0 ORDER BY algorithm",
      userID, deviceID
    ) { row in ByteString(row.text(0)) }
  }

  // MARK: Inside a transaction

  /// Stores uploaded keys (`<algorithm>:<key_id>` to a string or an object). A key that is there already is left alone, also one that was
  /// claimed: a client that got no answer uploads the same keys again. Throws `M_INVALID_PARAM` where another waits under its name.
  ///
  /// - Returns: the number of keys that were not there.
  @discardableResult
  static func store(_ tx: WriteTransaction, _ keys: JSON, of userID: UserID, _ deviceID: DeviceID) throws -> Int {
    var added = 0
    let upload =
      try tx.first(
        "SELECT COALESCE(MAX(upload), 0) + 1 FROM one_time_key WHERE user_id = $1 AND device_id = $2", userID, deviceID
      ) { $0.integer(0) } ?? 1
    for member in keys.members {
      let name = try KeyName(member)
      let known = try tx.first(
        """
        SELECT json, claimed FROM one_time_key WHERE user_id = $1 AND device_id = $2 AND algorithm = $3 AND key_id = $4
        """, userID, deviceID, name.algorithm, name.keyID
      ) { row in (isSame: row.blob(0).elementsEqual(member.value.bytes), isClaimed: row.integer(1) != 0) }
      if let known, known.isSame || !known.isClaimed {
        guard known.isSame else {
          throw MatrixError.invalidParameter("There is another one-time key '\(member.key)'.")
        }
        continue
      }
      try tx.execute(
        """
        INSERT INTO one_time_key(user_id, device_id, algorithm, key_id, upload, json) VALUES($1, $2, $3, $4, $5, $6)
        ON CONFLICT(user_id, device_id, algorithm, key_id)
        DO UPDATE SET upload = excluded.upload, json = excluded.json, claimed = 0
        """, userID, deviceID, name.algorithm, name.keyID, upload, member.value.bytes)
      added += 1
    }
    try tx.execute(
      "DELETE FROM one_time_key WHERE user_id = $1 AND device_id = $2 AND claimed = 1 AND upload < $3",
      userID, deviceID, upload - rememberedUploads)
    let counts = try counts(tx, of: userID, deviceID)
    try checkAlgorithms(counts.count)
    if let most = counts.map(\.count).max(), most > countLimit {
      throw MatrixError.tooLarge("A device has at most \(countLimit) one-time keys of an algorithm.")
    }
    return added
  }

  /// Replaces the fallback keys of the algorithms given.
  static func storeFallback(_ tx: WriteTransaction, _ keys: JSON, of userID: UserID, _ deviceID: DeviceID) throws {
    for member in keys.members {
      let name = try KeyName(member)
      let known = try tx.first(
        "SELECT key_id, json FROM fallback_key WHERE user_id = $1 AND device_id = $2 AND algorithm = $3",
        userID, deviceID, name.algorithm
      ) { row in row.text(0) == name.keyID && row.blob(1).elementsEqual(member.value.bytes) }
      // The same key again does not become unused again.
      if known == true { continue }
      try tx.execute(
        """
        INSERT INTO fallback_key(user_id, device_id, algorithm, key_id, json, used) VALUES($1, $2, $3, $4, $5, 0)
        ON CONFLICT(user_id, device_id, algorithm)
        DO UPDATE SET key_id = excluded.key_id, json = excluded.json, used = 0
        """, userID, deviceID, name.algorithm, name.keyID, member.value.bytes)
    }
    let algorithms = try tx.first(
      "SELECT COUNT(*) FROM fallback_key WHERE user_id = $1 AND device_id = $2", userID, deviceID
    ) { $0.integer(0) }
    try checkAlgorithms(Int(algorithms ?? 0))
  }

  private static func checkAlgorithms(_ count: Int) throws(MatrixError) {
    guard count <= algorithmsLimit else {
      throw .tooLarge("A device has keys of at most \(algorithmsLimit) algorithms.")
    }
  }
}

/// `<algorithm>:<key_id>` of an uploaded key.
struct KeyName {
  let algorithm: String
  let keyID: String

  /// Bytes of one key with its signatures; those in use have some 300.
  static let keyBytesLimit = 8 << 10

  /// Throws `M_BAD_JSON` for a name of another form and for a key that is neither a string nor an object.
  init(_ member: JSON.Member) throws(MatrixError) {
    let parts =
      member.key.count <= 255 ? member.key.string.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false) : []
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
      throw .badJSON("A key is named '<algorithm>:<key_id>'.")
    }
    guard member.value.isString || member.value.isObject else { throw .badJSON("A key is a string or an object.") }
    guard member.value.bytes.count <= Self.keyBytesLimit else {
      throw .tooLarge("A key has at most \(Self.keyBytesLimit) bytes.")
    }
    algorithm = String(parts[0])
    keyID = String(parts[1])
  }
}
