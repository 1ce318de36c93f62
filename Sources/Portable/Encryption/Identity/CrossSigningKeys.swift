import JSON
import MatrixModel
import Olm

/// The public cross-signing keys of a user. The master key has signed the two others. Nothing proves that the master key is the user's: see
/// `UserIdentity`. Spec: Client-Server API, "Cross-signing".
package struct CrossSigningKeys: Hashable, Sendable {
  package let user: UserID
  package let master: Ed25519Key
  /// Signs the user's devices. nil if the server has none.
  package let selfSigning: Ed25519Key?
  /// Signs the master keys of other users. A server gives it to its own user only.
  package let userSigning: Ed25519Key?

  package init(user: UserID, master: Ed25519Key, selfSigning: Ed25519Key? = nil, userSigning: Ed25519Key? = nil) {
    self.user = user
    self.master = master
    self.selfSigning = selfSigning
    self.userSigning = userSigning
  }

  /// Reads the keys of a user from an answer of `/keys/query`. nil if the answer has no master key of the user.
  package init?(_ answer: JSON, of user: UserID) throws(IdentityRefusal) {
    guard let json = answer["master_keys"]?[user.text] else { return nil }
    let master = try Self.key(json, of: user, .master)
    self.init(
      user: user, master: master,
      selfSigning: try Self.key(answer["self_signing_keys"]?[user.text], of: user, .selfSigning, signedBy: master),
      userSigning: try Self.key(answer["user_signing_keys"]?[user.text], of: user, .userSigning, signedBy: master))
  }

  subscript(use: CrossSigningUse) -> Ed25519Key? {
    switch use {
    case .master: master
    case .selfSigning: selfSigning
    case .userSigning: userSigning
    }
  }

  private static func key(
    _ json: JSON?, of user: UserID, _ use: CrossSigningUse, signedBy master: Ed25519Key
  ) throws(IdentityRefusal) -> Ed25519Key? {
    guard let json else { return nil }
    let key = try key(json, of: user, use)
    guard json.isSigned(by: user, master) else { throw .wrongSignature }
    return key
  }

  /// Reads one key without its signatures.
  static func key(_ json: JSON, of user: UserID, _ use: CrossSigningUse) throws(IdentityRefusal) -> Ed25519Key {
    guard json.text("user_id") == user.text else { throw .ofAnother }
    let uses = json["usage"]?.elements.map { $0.text } ?? []
    guard uses.count == 1, uses[0] == use.text else { throw .wrongUse }
    let members = json["keys"]?.members.map { $0 } ?? []
    guard members.count == 1 else { throw .notOneKey }
    guard let key = json["keys"]?.ed25519Key(members[0].key), members[0].key == key.keyID else { throw .malformed }
    return key
  }

  /// Returns the object of a key of another's making, for a signature, without `unsigned`; nil if it has members that a key does not have. A server could
  /// otherwise have something else signed with the key, such as the public key of a backup.
  static func objectToSign(_ json: JSON) -> JSON? {
    let known: [StaticString] = ["user_id", "usage", "keys", "signatures", "unsigned"]
    guard json.members.allSatisfy({ member in known.contains { member.isKey($0) } }) else { return nil }
    return try? json.replacing(["unsigned"]) { _ in }
  }

  /// Returns the object of a key as it is uploaded. The caller adds its signature.
  static func object(_ key: Ed25519Key, of user: UserID, _ use: CrossSigningUse) -> JSON? {
    try? JSON.object { writer in
      writer.member("user_id", user)
      writer.array("usage", [use]) { $1.write($0.text) }
      writer.key("keys")
      writer.object { writer in
        writer.key(key.keyID)
        writer.write(key.name)
      }
    }
  }
}

/// The reason why a user's cross-signing keys are not accepted. What was known before stays.
package enum IdentityRefusal: Error, Equatable, Sendable {
  /// The object does not have a valid key, or the key has another name than itself.
  case malformed
  /// The object names another user.
  case ofAnother
  /// The object is for another use, or for several.
  case wrongUse
  /// The object has no key, or more than one.
  case notOneKey
  /// The master key did not sign the key.
  case wrongSignature
}

extension Ed25519Key {
  /// The key in unpadded base64. Cross-signing keys are named after themselves.
  var name: ByteString { ByteString(decoding: text) }

  /// The name of a cross-signing key's signatures.
  var keyID: ByteString { ByteString("ed25519:" + name.string) }
}

extension JSON {
  /// Whether a cross-signing key of the user signed the object.
  func isSigned(by user: UserID, _ key: Ed25519Key) -> Bool { isSigned(by: user, key.keyID, key) }

  func signed(by user: UserID, _ pair: Ed25519KeyPair) -> JSON? { signed(by: user, pair.key.keyID, pair) }
}
