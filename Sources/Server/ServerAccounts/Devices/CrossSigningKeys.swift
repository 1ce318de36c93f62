import Database
import JSON
import MatrixModel
import RoomRules

/// Keys with which users vouch for their devices and for each other. Spec: Client-Server API, "Cross-signing".
package final class CrossSigningKeys: Sendable {
  package enum Usage: String, Sendable, CaseIterable {
    case master
    case selfSigning = "self_signing"
    case userSigning = "user_signing"
  }

  /// One key as uploaded.
  package struct Key: Sendable {
    package let usage: Usage
    /// The Base64 part of its ID.
    package let publicKey: ByteString
    package let json: JSON

    /// Throws `M_BAD_JSON`, `M_INVALID_PARAM`.
    init(_ json: JSON, _ usage: Usage, of userID: UserID) throws(MatrixError) {
      guard try json.requiredText("user_id") == userID.text else {
        throw .invalidParameter("The \(usage.rawValue) key is not this user's.")
      }
      guard json.bytes.count <= DeviceKeys.bytesLimit else {
        throw .tooLarge("A key has at most \(DeviceKeys.bytesLimit) bytes.")
      }
      let usages = try json.requiredArray("usage")
      guard usages.elements.contains(where: { $0.text == ByteString(usage.rawValue) }) else {
        throw .invalidParameter("A key is not meant to be the \(usage.rawValue) key.")
      }
      let keys = Array(try json.requiredObject("keys").members)
      guard keys.count == 1, let value = keys[0].value.text, keys[0].key == ByteString("ed25519:" + value.string),
        UnpaddedBase64.decode(value.utf8)?.count == 32
      else { throw .invalidParameter("A cross-signing key has one Ed25519 key, named after its public part.") }
      self.usage = usage
      self.json = json
      publicKey = value
    }
  }

  /// What a client uploads together.
  package struct Upload: Sendable {
    package let keys: [Key]

    package init(_ body: JSON, of userID: UserID) throws(MatrixError) {
      var keys: [Key] = []
      if let json = try body.optionalObject("master_key") { keys.append(try Key(json, .master, of: userID)) }
      if let json = try body.optionalObject("self_signing_key") { keys.append(try Key(json, .selfSigning, of: userID)) }
      if let json = try body.optionalObject("user_signing_key") { keys.append(try Key(json, .userSigning, of: userID)) }
      self.keys = keys
    }

    subscript(_ usage: Usage) -> Key? { keys.first { $0.usage == usage } }
  }

  private let database: Database
  private let lists: DeviceLists

  package init(database: Database, lists: DeviceLists) {
    self.database = database
    self.lists = lists
  }

  /// Stores the keys. Returns false, and stores nothing, where the user has to prove who they are first: there is a master key, and something in
  /// the upload differs from what is stored. Looked at in the transaction that stores, or two first uploads at once could both pass.
  ///
  /// Throws `M_MISSING_PARAM` without a master key, `M_INVALID_SIGNATURE`, `M_FORBIDDEN` for the ID of a device.
  package func upload(_ upload: Upload, of userID: UserID, isProven: Bool) async throws -> Bool {
    try await database.write { [lists] tx in
      let stored = try Self.stored(tx, of: userID)
      if !isProven, stored[.master] != nil {
        guard upload.keys.allSatisfy({ key in stored[key.usage]?.isSame(as: key) ?? false }) else { return false }
      }
      guard let master = upload[.master]?.publicKey ?? stored[.master]?.publicKey else {
        throw MatrixError(status: 400, .missingParameter, "There is no master key.")
      }
      for key in upload.keys { try Self.check(tx, key, of: userID, master: master) }
      var isChanged = false
      for key in upload.keys {
        if let known = stored[key.usage], known.json.elementsEqual(key.json.bytes) { continue }
        isChanged = true
        try Self.store(tx, key, of: userID, replacing: stored[key.usage]?.publicKey)
      }
      if isChanged { try lists.changed(tx, userID) }
      return true
    }
  }

  private static func check(_ tx: ReadTransaction, _ key: Key, of userID: UserID, master: ByteString) throws {
    let isDevice = try tx.first(
      "SELECT 1 FROM device WHERE user_id = $1 AND device_id = $2", userID, key.publicKey
    ) { _ in true }
    guard isDevice == nil else { throw MatrixError.forbidden("The \(key.usage.rawValue) key is the ID of a device.") }
    guard key.usage != .master else { return }
    let bytes = UnpaddedBase64.decode(master.utf8) ?? []
    guard
      SignedJSON(key.json).isSigned(
        by: userID.text, keyID: ByteString("ed25519:" + master.string), publicKey: bytes)
    else {
      throw MatrixError(
        status: 400, "M_INVALID_SIGNATURE", "The \(key.usage.rawValue) key is not signed by the master key.")
    }
  }

  private static func store(_ tx: WriteTransaction, _ key: Key, of userID: UserID, replacing old: ByteString?) throws {
    if let old, old != key.publicKey {
      try tx.execute("DELETE FROM key_signature WHERE target_user_id = $1 AND target = $2", userID, old)
    }
    try tx.execute(
      """
      INSERT INTO cross_signing_key(user_id, usage, public_key, json) VALUES($1, $2, $3, $4)
      ON CONFLICT(user_id, usage) DO UPDATE SET public_key = excluded.public_key, json = excluded.json
      """, userID, key.usage.rawValue, key.publicKey, key.json.bytes)
  }

  // MARK: Reading

  /// A key as stored, without the signatures that came later.
  struct Stored: Sendable {
    let publicKey: ByteString
    let json: [UInt8]

    /// Whether the upload is this key and nothing else, however it is written.
    func isSame(as key: Key) -> Bool {
      if json.elementsEqual(key.json.bytes) { return true }
      guard let known = try? JSON.parse(json).canonical(), let new = try? key.json.canonical() else { return false }
      return known == new
    }
  }

  static func stored(_ tx: ReadTransaction, of userID: UserID) throws -> [Usage: Stored] {
    var stored: [Usage: Stored] = [:]
    try tx.query("SELECT usage, public_key, json FROM cross_signing_key WHERE user_id = $1", userID) { row in
      guard let usage = Usage(rawValue: row.text(0)) else { return }
      stored[usage] = Stored(publicKey: ByteString(row.text(1)), json: row.blob(2))
    }
    return stored
  }

  /// The user's keys with the signatures that `asker` may see; the user-signing key for its owner only.
  package static func published(_ tx: ReadTransaction, of userID: UserID, to asker: UserID) throws -> [Usage: [UInt8]] {
    var published: [Usage: [UInt8]] = [:]
    for (usage, key) in try stored(tx, of: userID) where usage != .userSigning || userID == asker {
      let signatures = try KeySignatures.visible(tx, of: userID, target: key.publicKey, to: asker)
      published[usage] = try KeySignatures.merged(key.json, signatures)
    }
    return published
  }
}
