import JSON
import MatrixModel

/// A JSON object with `signatures` by server or entity and key ID. Spec: Appendices, "Signing JSON".
package struct SignedJSON: Sendable {
  private let object: JSON
  /// nil where the object has no canonical form and so no valid signature.
  private let signedBytes: [UInt8]?

  package init(_ object: JSON) {
    self.init(object, signedBytes: try? object.canonical(leavingOut: ["signatures", "unsigned"]))
  }

  init(_ object: JSON, signedBytes: [UInt8]?) {
    self.object = object
    self.signedBytes = signedBytes
  }

  /// The key IDs under which an entity signed, of Ed25519 only.
  package func keyIDs(of entity: ByteString) -> [ByteString] {
    object["signatures"]?[entity]?.members.map(\.key).filter { $0.hasPrefix("ed25519:") } ?? []
  }

  /// Whether the entity's signature with a key is valid.
  package func isSigned(by entity: ByteString, keyID: ByteString, publicKey: [UInt8]) -> Bool {
    guard let signature = object["signatures"]?[entity]?[keyID] else { return false }
    return isValid(signature, publicKey)
  }

  /// Whether any signature, by any signer, is valid with any of the keys. Spec: "Third-party invites".
  package func isSigned(byAnyOf publicKeys: [[UInt8]]) -> Bool {
    for entity in object["signatures"]?.members.map(\.value) ?? [] {
      for signature in entity.members where signature.key.hasPrefix("ed25519:") {
        if publicKeys.contains(where: { isValid(signature.value, $0) }) { return true }
      }
    }
    return false
  }

  private func isValid(_ signature: JSON, _ publicKey: [UInt8]) -> Bool {
    guard let signedBytes, let bytes = signature.text.flatMap({ UnpaddedBase64.decode($0.utf8) }) else { return false }
    return SigningKey.verify(bytes, of: signedBytes, publicKey: publicKey)
  }

  /// The object in canonical form with one signature more; those it has are kept.
  ///
  /// - Throws: `JSONError` where the object has no canonical form.
  package static func sign(_ object: JSON, as entity: ByteString, with key: SigningKey) throws(JSONError) -> [UInt8] {
    let signature = UnpaddedBase64.encode(key.sign(try object.canonical(leavingOut: ["signatures", "unsigned"])))
    var signed = JSONWriter(capacity: object.bytes.count + 256)
    signed.object { writer in
      for member in object.members where !member.isKey("signatures") {
        writer.key(member.key)
        writer.write(member.value)
      }
      writer.key("signatures")
      write(object["signatures"], adding: ByteString(decoding: signature), of: entity, key.keyID, to: &writer)
    }
    return try JSON.parse(signed.bytes).canonical()
  }

  private static func write(
    _ signatures: JSON?, adding signature: ByteString, of entity: ByteString, _ keyID: ByteString,
    to writer: inout JSONWriter
  ) {
    writer.object { writer in
      for member in signatures?.members.map({ $0 }) ?? [] where member.key != entity {
        writer.key(member.key)
        writer.write(member.value)
      }
      writer.key(entity)
      writer.object { writer in
        for member in signatures?[entity]?.members.map({ $0 }) ?? [] where member.key != keyID {
          writer.key(member.key)
          writer.write(member.value)
        }
        writer.key(keyID)
        writer.write(signature)
      }
    }
  }
}
