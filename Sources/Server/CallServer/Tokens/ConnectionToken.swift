import JSON
import MatrixModel
import ServerAccounts
import ServerCore

/// Leave to be in a session, as an application's server signed it.
package struct ConnectionToken: Sendable, Equatable {
  package let session: SessionID
  package internal(set) var role: Role
  /// What the application says of this participant, for all to see.
  package let data: ByteString
  /// Of the streams that the connection publishes, until they are changed. OpenTok's "layout classes".
  package let layoutClasses: [ByteString]
  /// The user that the token was given to, or the token itself if there is no user. Limits apply per holder.
  package internal(set) var holder: ByteString = ""

  /// Why a token was refused; says nothing of its content.
  package enum Refusal: Error, Equatable, Sendable {
    case malformed
    case unknownProject, wrongSignature
    case expired, notYetValid, withoutExpiry, tooLong
    case wrongProject, wrongSession, wrongScope
    case unknownRole, tooMuchData
  }
}

extension ConnectionToken {
  /// Verifies a token in either form, for one session.
  ///
  /// The secret is that of the session's project, so that no token of another project can be good, whatever it says.
  ///
  /// - Parameter now: milliseconds since 1970.
  package init(
    verifying text: ByteString, for session: SessionID, of projects: CallProjects, now: Int64
  ) throws(Refusal) {
    guard let project = session.project, let secret = projects.secret(of: project) else { throw .unknownProject }
    let claims: TokenClaims
    if text.hasPrefix(LegacyToken.prefix) {
      claims = try LegacyToken.claims(of: text, project: project, secret: Array(secret.utf8), now: now)
    } else {
      claims = try TokenClaims(jsonWebToken: text, project: project, secret: Array(secret.utf8), now: now)
    }
    guard let end = claims.end else { throw .withoutExpiry }
    guard end <= now + CallLimits.tokenMilliseconds + JSONWebToken.leewaySeconds * 1_000 else { throw .tooLong }
    guard claims.session == session.text else { throw .wrongSession }
    guard let role = claims.role.map({ Role(rawValue: $0.string) }) ?? .publisher else { throw .unknownRole }
    guard claims.data.string.unicodeScalars.count <= CallLimits.connectionDataCharacters,
      claims.layoutClasses.string.unicodeScalars.count <= CallLimits.layoutClassesCharacters
    else { throw .tooMuchData }
    self.session = session
    self.role = role
    data = claims.data
    layoutClasses = claims.layoutClasses.utf8.split(separator: UInt8(ascii: " "))
      .prefix(CallLimits.layoutClassesOfStream).map { ByteString(decoding: $0) }
    let digest = KeyedHash.sha256.digest(of: claims.signed, key: Array("martlet.holder".utf8))
    holder = roomMember?.text ?? ByteString("\(project):" + KeyedHash.hexadecimal(Array(digest.prefix(12))))
  }

  /// A token of ours, for a call in a room.
  static func issue(
    for session: SessionID, role: Role, _ user: UserID, _ device: DeviceID, secret: String, now: Int64
  ) -> ByteString {
    var data = JSONWriter()
    data.object { data in
      data.member("user_id", user)
      data.member("device_id", device)
    }
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("iss", ProjectID.rooms)
      writer.member("ist", "project")
      writer.member("iat", now / 1_000)
      writer.member("exp", (now + CallLimits.roomTokenMilliseconds) / 1_000)
      writer.member("jti", RandomText.urlSafe(bytes: 12))
      writer.member("scope", "session.connect")
      writer.member("session_id", session)
      writer.member("role", role.rawValue)
      writer.member("connection_data", ByteString(decoding: data.bytes))
    }
    return JSONWebToken.signed(writer.bytes, secret: Array(secret.utf8))
  }
}

extension ConnectionToken {
  /// How many connections its holder may have in a session.
  var connectionsLimit: Int { session.project == .rooms ? CallLimits.connectionsOfMember : CallLimits.connectionsOfToken }

  /// And how many streams.
  var streamsLimit: Int { session.project == .rooms ? CallLimits.streamsOfMember : CallLimits.streamsOfToken }

  /// On which device the member got it.
  var roomDevice: DeviceID? {
    guard session.project == .rooms else { return nil }
    return DeviceID((try? JSON.parse(data.utf8))?["device_id"])
  }

  /// The member whose connection this is, for a call in a room. Names that an application gives are not Matrix users.
  var roomMember: UserID? {
    guard session.project == .rooms else { return nil }
    return UserID((try? JSON.parse(data.utf8))?["user_id"])
  }
}

/// What a token of either form says, its signature and times verified.
struct TokenClaims {
  var session: ByteString
  var role: ByteString?
  var data: ByteString = ""
  var layoutClasses: ByteString = ""
  /// Milliseconds since 1970.
  var end: Int64?
  /// What the signature is of. The same token can be written in more than one way around it.
  let signed: [UInt8]

  init(session: ByteString, signed: [UInt8]) {
    self.session = session
    self.signed = signed
  }

  init(
    jsonWebToken text: ByteString, project: ProjectID, secret: [UInt8], now: Int64
  ) throws(ConnectionToken.Refusal) {
    let claims = try Self.claims(of: text, project: project, secret: secret, now: now)
    guard claims["ist"]?.isString("project") ?? false else { throw .wrongProject }
    guard claims["scope"]?.isString("session.connect") ?? false else { throw .wrongScope }
    guard let session = claims["session_id"]?.text else { throw .wrongSession }
    let bytes = text.utf8
    self.init(session: session, signed: Array(bytes[..<(bytes.lastIndex(of: UInt8(ascii: ".")) ?? bytes.endIndex)]))
    if let role = claims["role"] {
      guard let text = role.text else { throw .unknownRole }
      self.role = text
    }
    data = claims["connection_data"]?.text ?? ""
    layoutClasses = claims["initial_layout_class_list"]?.text ?? ""
    end = Self.milliseconds(claims["exp"])
  }

  /// Of a token that the project has signed with HS256, and that is good now.
  static func claims(
    of text: ByteString, project: ProjectID, secret: [UInt8], now: Int64
  ) throws(ConnectionToken.Refusal) -> JSON {
    guard let key = JSONWebKey(secret: secret) else { throw .unknownProject }
    var expectation = JSONWebToken.Expectation()
    expectation.issuer = project.text
    do throws(JSONWebToken.Refusal) {
      return try JSONWebToken(verifying: text, with: [key], expectation, now: now).claims
    } catch {
      throw ConnectionToken.Refusal(error)
    }
  }

  static func milliseconds(_ claim: JSON?) -> Int64? {
    guard let seconds = try? JSONWebToken.seconds(claim) else { return nil }
    return seconds.multipliedReportingOverflow(by: 1_000).overflow ? .max : seconds * 1_000
  }
}

extension ConnectionToken.Refusal {
  init(_ refusal: JSONWebToken.Refusal) {
    self =
      switch refusal {
      case .malformed: .malformed
      case .wrongAlgorithm, .unknownKey, .wrongSignature: .wrongSignature
      case .expired: .expired
      case .notYetValid: .notYetValid
      case .withoutExpiry: .withoutExpiry
      case .wrongIssuer, .wrongAudience: .wrongProject
      }
  }

  /// For the developer of the application, without anything from the token.
  package var sentence: String {
    switch self {
    case .malformed: "This is not a valid token."
    case .unknownProject: "There is no such API key here."
    case .wrongSignature: "The token's signature is wrong."
    case .expired: "The token has expired."
    case .notYetValid: "The token is from the future."
    case .withoutExpiry: "The token does not say when it ends."
    case .tooLong: "The token is good for longer than it may be."
    case .wrongProject: "The token is of another API key."
    case .wrongSession: "The token is for another session."
    case .wrongScope: "The token is not for this."
    case .unknownRole: "The token has a role that there is not."
    case .tooMuchData: "The token says more of its connection than it may."
    }
  }
}
