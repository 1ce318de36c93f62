import JSON
import MatrixModel

/// What an operator decides about logins that an app vouches for with a signed token (`org.matrix.login.jwt`).
package struct JSONWebTokenLogin: Sendable {
  /// All of one algorithm, which the operator chose.
  package var keys: [JSONWebKey]
  package var expectation = JSONWebToken.Expectation()
  /// The claim that names the user; see `Localpart.mapped`.
  package var subjectClaim: ByteString = "sub"
  /// The claims that the first login takes display name and avatar from; an avatar is an `mxc://` URI.
  package var displayNameClaim: ByteString = "name"
  package var pictureClaim: ByteString = "picture"

  package init(keys: [JSONWebKey]) { self.keys = keys }
}

/// User IDs for the users of others.
package enum Localpart {
  /// The localpart that stands for a name of another system: bytes which no localpart may have, `=` and capital letters become
  /// `=` and two hexadecimal digits, so that no two names share one. nil for the empty name.
  ///
  /// Spec: Appendices, "Mapping from other character sets", in the form that tells capitals from small letters by their bytes.
  package static func mapped(from name: ByteString) -> ByteString? {
    guard !name.isEmpty else { return nil }
    let digits = Array("0123456789abcdef".utf8)
    var bytes: [UInt8] = []
    for byte in name.utf8 {
      let isKept = byte != UInt8(ascii: "=") && byte < 0x80 && UserID.isAllowedLocalpart(ByteString(decoding: [byte]))
      bytes += isKept ? [byte] : [UInt8(ascii: "="), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
    return ByteString(decoding: bytes)
  }
}

extension Accounts {
  /// Logs a user in with a token of the app that knows them. Creates the account if necessary: without a password, with the name and
  /// picture of the token.
  ///
  /// Throws `M_UNKNOWN` (400) where no such login is configured, `M_FORBIDDEN` for a token that is not right,
  /// `M_EXCLUSIVE` for a name of an application service, `M_USER_DEACTIVATED`, and what `AccountStanding.requireUse` throws.
  package func logIn(jsonWebToken text: ByteString, device: DeviceRequest) async throws -> (userID: UserID, login: Login) {
    let (localpart, userID, token) = try verified(text)
    let login = try await database.write { [self] tx in
      if try Self.account(tx, userID) == nil {
        try create(tx, newAccount(localpart, token.claims), userID, passwordHash: nil)
      }
      return try logIn(tx, userID, device)
    }
    return (userID, login)
  }

  /// Returns the user that the token of an `auth` names. Throws as the login does.
  func user(vouchedForBy auth: JSON) throws(MatrixError) -> UserID {
    try verified(try auth.requiredText("token")).userID
  }

  private func verified(_ text: ByteString) throws(MatrixError) -> (ByteString, userID: UserID, JSONWebToken) {
    guard let login = configuration.jsonWebTokens else {
      throw MatrixError.unknown(status: 400, "This server has no login of this type.")
    }
    let token: JSONWebToken
    do throws(JSONWebToken.Refusal) {
      token = try JSONWebToken(
        verifying: text, with: login.keys, login.expectation, now: configuration.clock.now())
    } catch {
      throw MatrixError.forbidden("The token was refused: \(error.sentence)")
    }
    let subject = token.claims.members.first { $0.key == login.subjectClaim }?.value
    guard let localpart = subject?.text.flatMap(Localpart.mapped),
      let userID = UserID(localpart: localpart, server: configuration.serverName)
    else { throw MatrixError.forbidden("The token names no user in '\(login.subjectClaim)'.") }
    return (localpart, userID, token)
  }

  private func newAccount(_ localpart: ByteString, _ claims: JSON) -> NewAccount {
    func text(_ name: ByteString?) -> ByteString? { claims.members.first { $0.key == name }?.value.text }
    var new = NewAccount(localpart)
    if let name = text(configuration.jsonWebTokens?.displayNameClaim), !name.isEmpty,
      name.count <= Profiles.displayNameBytesLimit
    {
      new.displayName = name
    }
    if let picture = text(configuration.jsonWebTokens?.pictureClaim), picture.count <= Profiles.avatarURLBytesLimit,
      MediaURI(picture) != nil
    {
      new.avatarURL = picture
    }
    return new
  }
}

extension JSONWebToken.Refusal {
  /// For the developer of the app, without anything from the token.
  fileprivate var sentence: String {
    switch self {
    case .malformed: "it is no signed JSON Web Token."
    case .wrongAlgorithm: "it names another algorithm than this server is configured with."
    case .unknownKey: "it names a key that this server does not know."
    case .wrongSignature: "its signature is wrong."
    case .expired: "it has expired."
    case .notYetValid: "it is not valid yet."
    case .withoutExpiry: "it has no 'exp'."
    case .wrongIssuer: "it has another issuer than this server expects."
    case .wrongAudience: "it is for another audience than this server."
    }
  }
}
