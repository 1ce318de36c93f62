import Database
import JSON
import MatrixModel
import RoomRules

/// Takes signatures that users make on their own devices and on the keys of others.
///
/// Each object must be the key as it is stored but for its `signatures`; each signature must be the asker's and right.
/// Spec: `POST /_matrix/client/v3/keys/signatures/upload`.
package final class SignatureUpload: Sendable {
  package struct Failure: Sendable {
    package let userID: ByteString
    package let keyID: ByteString
    package let error: MatrixError
  }

  private let database: Database
  private let lists: DeviceLists

  package init(database: Database, lists: DeviceLists) {
    self.database = database
    self.lists = lists
  }

  /// Stores what is right; the answer is what was not. `body` maps user IDs to device IDs or public keys to signed objects.
  package func upload(_ body: JSON, by signer: UserID) async throws -> [Failure] {
    try await database.write { [lists] tx in
      let keys = try Self.signingKeys(tx, of: signer)
      var failures: [Failure] = []
      for user in body.members {
        guard let userID = UserID(user.key), user.value.isObject else {
          throw MatrixError.badJSON("The signatures are not a map of user IDs to keys.")
        }
        var isChanged = false
        for target in user.value.members {
          do throws(Refusal) {
            try Self.store(tx, target, of: userID, by: signer, keys)
            isChanged = true
          } catch .error(let error) {
            failures.append(Failure(userID: user.key, keyID: target.key, error: error))
          } catch .database(let error) {
            throw error
          }
        }
        guard isChanged else { continue }
        if userID == signer { try lists.changed(tx, userID) } else { try lists.changed(tx, userID, for: signer) }
      }
      return failures
    }
  }

  private enum Refusal: Error {
    case error(MatrixError)
    case database(any Error)
  }

  /// The keys a user may sign with: their devices' and their cross-signing keys, by `ed25519:` ID.
  private static func signingKeys(_ tx: ReadTransaction, of userID: UserID) throws -> [ByteString: [UInt8]] {
    var keys: [ByteString: [UInt8]] = [:]
    let devices = try tx.all("SELECT json FROM device_key WHERE user_id = $1", userID) { $0.blob(0) }
    for bytes in try devices + CrossSigningKeys.stored(tx, of: userID).values.map(\.json) {
      for member in try JSON.parse(bytes)["keys"]?.members ?? JSON.parse(Array("{}".utf8)).members {
        guard member.key.hasPrefix("ed25519:"), let text = member.value.text else { continue }
        keys[member.key] = UnpaddedBase64.decode(text.utf8)
      }
    }
    return keys
  }

  private static func store(
    _ tx: WriteTransaction, _ target: JSON.Member, of userID: UserID, by signer: UserID, _ keys: [ByteString: [UInt8]]
  ) throws(Refusal) {
    do {
      guard let stored = try storedKey(tx, target.key, of: userID) else {
        throw MatrixError.notFound("There is no such key.")
      }
      let (original, given) = (try JSON.parse(stored), target.value)
      let omitted: [StaticString] = ["signatures", "unsigned"]
      guard let canonical = try? given.canonical(leavingOut: omitted),
        try canonical == original.canonical(leavingOut: omitted)
      else { throw MatrixError.invalidParameter("The object is not the key as it is stored.") }
      let signatures = given["signatures"]?[signer.text]?.members.map { ($0.key, $0.value.text) } ?? []
      // What the key came with is not new; what else is there must be right.
      let known = original["signatures"]?[signer.text]
      for (keyID, text) in signatures where known?[keyID]?.text != text {
        guard let text, let publicKey = keys[keyID],
          SignedJSON(given).isSigned(by: signer.text, keyID: keyID, publicKey: publicKey)
        else { throw MatrixError(status: 400, "M_INVALID_SIGNATURE", "The signature by \(keyID) is not right.") }
        try KeySignatures.store(tx, .init(signer: signer, key: keyID, text: text), on: target.key, of: userID)
      }
    } catch let error as MatrixError {
      throw .error(error)
    } catch {
      throw .database(error)
    }
  }

  /// The device's keys, or the cross-signing key with that public part.
  private static func storedKey(_ tx: ReadTransaction, _ target: ByteString, of userID: UserID) throws -> [UInt8]? {
    let device = try tx.first(
      "SELECT json FROM device_key WHERE user_id = $1 AND device_id = $2", userID, target
    ) { $0.blob(0) }
    if let device { return device }
    return try CrossSigningKeys.stored(tx, of: userID).values.first { $0.publicKey == target }?.json
  }
}
