import JSON
import MatrixModel
import Olm

/// Signatures on objects. Spec: Appendices, "Signing JSON".
extension JSON {
  /// Whether the user signed the object with the key. `keyID` is what the signature is called, such as `ed25519:DEVICE`.
  func isSigned(by user: UserID, _ keyID: ByteString, _ key: Ed25519Key) -> Bool {
    guard let text = self["signatures"]?[user.text]?[keyID]?.text, let signature = Base64.decode(Array(text.utf8)),
      let signed = try? canonical(leavingOut: JSON.unsignedMembers)
    else { return false }
    return key.verifies(signature, of: signed)
  }

  /// The object with the user's signature beside those that are there; nil if it has no canonical form.
  func signed(by user: UserID, _ keyID: ByteString, _ pair: Ed25519KeyPair) -> JSON? {
    guard let bytes = try? canonical(leavingOut: JSON.unsignedMembers) else { return nil }
    let signature = ByteString(decoding: Base64.encode(pair.sign(bytes)))
    let others = self["signatures"]
    return try? replacing(["signatures"]) { writer in
      writer.key("signatures")
      writer.object { writer in
        for member in others?.members.map({ $0 }) ?? [] where member.key != user.text {
          writer.key(member.key)
          writer.write(member.value)
        }
        writer.key(user)
        writer.object { writer in
          for member in others?[user.text]?.members.map({ $0 }) ?? [] where member.key != keyID {
            writer.key(member.key)
            writer.write(member.value)
          }
          writer.key(keyID)
          writer.write(signature)
        }
      }
    }
  }

  private static var unsignedMembers: [StaticString] { ["signatures", "unsigned"] }
}

extension JSON {
  /// A public key that a member has as unpadded base64.
  func curve25519Key(_ name: ByteString) -> Curve25519Key? { keyBytes(name).flatMap { Curve25519Key($0) } }
  func ed25519Key(_ name: ByteString) -> Ed25519Key? { keyBytes(name).flatMap { Ed25519Key($0) } }

  private func keyBytes(_ name: ByteString) -> [UInt8]? { self[name]?.text.flatMap { Base64.decode(Array($0.utf8)) } }
}
