import JSON
import MatrixModel
import Olm

/// The private parts of a user's three cross-signing keys.
struct CrossSigningPairs: Sendable {
  let master: Ed25519KeyPair
  let selfSigning: Ed25519KeyPair
  let userSigning: Ed25519KeyPair

  init(random: inout SecretSource) {
    self.init(
      master: Ed25519KeyPair(from: &random), selfSigning: Ed25519KeyPair(from: &random),
      userSigning: Ed25519KeyPair(from: &random))
  }

  init(master: Ed25519KeyPair, selfSigning: Ed25519KeyPair, userSigning: Ed25519KeyPair) {
    self.master = master
    self.selfSigning = selfSigning
    self.userSigning = userSigning
  }

  subscript(use: CrossSigningUse) -> Ed25519KeyPair {
    switch use {
    case .master: master
    case .selfSigning: selfSigning
    case .userSigning: userSigning
    }
  }

  func keys(of user: UserID) -> CrossSigningKeys {
    CrossSigningKeys(user: user, master: master.key, selfSigning: selfSigning.key, userSigning: userSigning.key)
  }

  /// Returns the object of a key as the server gives it to the user's clients.
  func object(_ use: CrossSigningUse, of user: UserID) -> JSON? {
    let object = CrossSigningKeys.object(self[use].key, of: user, use)
    return use == .master ? object : object?.signed(by: user, master)
  }

  /// Returns the body of `/keys/device_signing/upload`.
  ///
  /// - Parameter authentication: the value of `auth`, if the server asked for it.
  func uploadBody(of user: UserID, authentication: JSON?) -> [UInt8] {
    JSONWriter.object { writer in
      if let object = object(.master, of: user) { writer.member("master_key", object) }
      if let object = object(.selfSigning, of: user) { writer.member("self_signing_key", object) }
      if let object = object(.userSigning, of: user) { writer.member("user_signing_key", object) }
      if let authentication { writer.member("auth", authentication) }
    }
  }
}
