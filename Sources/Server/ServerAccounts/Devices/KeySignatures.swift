import Database
import JSON
import MatrixModel

/// Signatures that were added to a key after it was uploaded.
struct KeySignatures {
  struct Signature: Sendable {
    let signer: UserID
    /// `ed25519:<key>`
    let key: ByteString
    let text: ByteString
  }

  /// The signatures that `asker` may see: the owner's and the asker's. Signatures by others would reveal who trusts whom.
  static func visible(_ tx: ReadTransaction, of userID: UserID, target: ByteString, to asker: UserID) throws
    -> [Signature]
  {
    try tx.all(
      """
      SELECT signer_user_id, signer_key, signature FROM key_signature
      WHERE target_user_id = $1 AND target = $2 AND (signer_user_id = $1 OR signer_user_id = $3)
      ORDER BY signer_user_id, signer_key
      """, userID, target, asker
    ) { row in
      Signature(signer: row.identifier(0), key: ByteString(row.text(1)), text: ByteString(row.text(2)))
    }
  }

  static func store(_ tx: WriteTransaction, _ signature: Signature, on target: ByteString, of userID: UserID) throws {
    try tx.execute(
      """
      INSERT INTO key_signature(target_user_id, target, signer_user_id, signer_key, signature)
      VALUES($1, $2, $3, $4, $5)
      ON CONFLICT(target_user_id, target, signer_user_id, signer_key) DO UPDATE SET signature = excluded.signature
      """, userID, target, signature.signer, signature.key, signature.text)
  }

  /// A key object with further signatures and, where given, another `unsigned`; all other members as they were.
  static func merged(_ key: [UInt8], _ added: [Signature], unsigned: [UInt8]? = nil) throws -> [UInt8] {
    if added.isEmpty && unsigned == nil { return key }
    let json = try JSON.parse(key)
    var writer = JSONWriter(capacity: key.count + added.count * 160 + 64)
    writer.beginObject()
    for member in json.members where !member.isKey("signatures") && !(unsigned != nil && member.isKey("unsigned")) {
      writer.key(member.key)
      writer.write(member.value)
    }
    writer.key("signatures")
    writeSignatures(json["signatures"], added, to: &writer)
    if let unsigned { writer.member("unsigned", raw: unsigned) }
    writer.endObject()
    return writer.bytes
  }

  private static func writeSignatures(_ original: JSON?, _ added: [Signature], to writer: inout JSONWriter) {
    var bySigner: [ByteString: [ByteString: ByteString]] = [:]
    if let original {
      for signer in original.members {
        for signature in signer.value.members {
          bySigner[signer.key, default: [:]][signature.key] = signature.value.text
        }
      }
    }
    for signature in added { bySigner[signature.signer.text, default: [:]][signature.key] = signature.text }
    writer.beginObject()
    for (signer, signatures) in bySigner.sorted(by: { $0.key < $1.key }) {
      writer.key(signer)
      writer.beginObject()
      for (key, text) in signatures.sorted(by: { $0.key < $1.key }) {
        writer.key(key)
        writer.write(text)
      }
      writer.endObject()
    }
    writer.endObject()
  }
}
