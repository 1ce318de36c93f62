import MatrixModel
import Telemetry

/// An OpenID provider whose people may log in here. Spec: Client-Server API, "SSO client login/authentication"; OpenID Connect
/// Core 1.0.
package struct SingleSignOnProvider: Sendable {
  /// In paths and in the database: never changed once there are accounts. Spec: `Identity Provider`, `id`.
  package var id: String
  /// For people: the text on the button.
  package var name: String
  /// `apple`, `google`, `gitlab`, …; nil for none. Spec: `Identity Provider`, `brand`.
  package var brand: String?
  /// An `mxc://` URI; nil for none.
  package var icon: MediaURI?
  /// As the provider writes it in its tokens.
  package var issuer: String
  package var clientID: String
  /// nil for a public client, which proves itself by PKCE alone.
  package var clientSecret: Redacted<String>?
  package var scopes = ["openid", "profile", "email"]
  /// The claim that becomes the localpart of a new account. Invalid characters are encoded, and a domain is cut off.
  package var localpartClaim = "preferred_username"
  package var displayNameClaim = "name"
  /// Whether who comes for the first time gets an account.
  package var makesAccounts = true

  package init(id: String, name: String, issuer: String, clientID: String) {
    self.id = id
    self.name = name
    self.issuer = issuer
    self.clientID = clientID
  }

  /// Spec: "The characters … allowed are … `A-Z a-z 0-9 . _ ~ -`", at most 255.
  package static func isID(_ text: String) -> Bool {
    (1...255).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "._~-".utf8.contains(byte)
        }
      }
  }
}
