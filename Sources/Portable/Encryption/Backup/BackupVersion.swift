import JSON
import MatrixModel
import Olm

/// A version of the backup of room keys, as the server describes it. Spec: Client-Server API, "Server-side key backups".
package struct BackupVersion: Sendable {
  package static let algorithm: ByteString = "m.megolm_backup.v1.curve25519-aes-sha2"

  package let version: ByteString
  /// Encrypts what is backed up.
  package let key: Curve25519Key
  package let etag: ByteString?
  package let count: Int
  private let authentication: JSON

  /// - Parameter answer: of `GET /room_keys/version`.
  package init(_ answer: JSON) throws(BackupRefusal) {
    guard answer.text("algorithm") == Self.algorithm else { throw .unknownAlgorithm }
    guard let version = answer.text("version"), (1...EncryptionLimits.backupVersionBytes).contains(version.count),
      let authentication = answer["auth_data"], let key = authentication.curve25519Key("public_key")
    else { throw .malformed }
    self.version = version
    self.key = key
    self.authentication = authentication
    etag = answer.text("etag")
    count = max(0, Int(clamping: answer.integer("count") ?? 0))
  }

  /// Whether the user's verified master key has signed the version.
  func isSigned(by own: OwnIdentity) -> Bool {
    guard own.isVerified, let master = own.keys?.master else { return false }
    return authentication.isSigned(by: own.user, master)
  }

  /// Returns the body of `POST /room_keys/version` for a new backup. The master key signs it if it is held, and so does the device.
  package static func creation(_ key: Curve25519Key, _ own: OwnIdentity, _ device: OwnKeys) -> [UInt8] {
    var authentication = try? JSON.object { $0.member("public_key", base64: key.bytes) }
    authentication = authentication?.signed(by: own.user, DeviceKeys.keyID(of: device.device), device.account.signing)
    if let master = own.pair(.master) { authentication = authentication?.signed(by: own.user, master) }
    return JSONWriter.object { writer in
      writer.member("algorithm", algorithm)
      if let authentication { writer.member("auth_data", authentication) }
    }
  }
}

/// Why a backup, or a key in it, is not used.
package enum BackupRefusal: Error, Equatable, Sendable {
  case unknownAlgorithm
  case malformed
  /// Neither the private key nor the verified master key vouches for the version: its public key may be the server's.
  case untrusted
  /// The key cannot be read, for whatever reason. The server could learn from different ones.
  case unreadable
}
