import JSON
import MatrixModel

/// What the server is and can do.
extension Query {
  /// Spec: Client-Server API, `GET /versions`.
  public static func versions() -> Query<ServerVersions> {
    Query<ServerVersions>(.getVersions, Endpoint.getVersions.path()) { ServerVersions($0) }
  }

  /// Spec: "Capabilities negotiation".
  public static func capabilities() -> Query<Capabilities> {
    Query<Capabilities>(.getCapabilities, Endpoint.getCapabilities.path()) { Capabilities($0) }
  }

  /// Spec: `GET /login`.
  public static func loginFlows() -> Query<LoginFlows> {
    Query<LoginFlows>(.getLoginFlows, Endpoint.getLoginFlows.path()) { LoginFlows($0) }
  }

  /// Whose token it is. Spec: `GET /account/whoami`.
  public static func whoAmI() -> Query<TokenOwner> {
    Query<TokenOwner>(.getTokenOwner, Endpoint.getTokenOwner.path()) { json in
      guard let user = UserID(json["user_id"]) else { return nil }
      return TokenOwner(userID: user, deviceID: DeviceID(json["device_id"]), isGuest: json.bool("is_guest") ?? false)
    }
  }
}

/// The versions of the specification that a server speaks, and what it has of what is not in one yet.
public struct ServerVersions: Sendable, Hashable {
  /// As the server lists them: `v1.19`, `r0.6.1`.
  public let versions: [ByteString]
  /// Switched on; what the server does not list is off.
  public let unstableFeatures: Set<ByteString>

  /// nil where the answer is not what the spec says.
  package init?(_ json: JSON) {
    guard let listed = json["versions"], listed.isArray else { return nil }
    versions = listed.elements.compactMap { $0.text }
    guard versions.count == listed.count else { return nil }
    var features = Set<ByteString>()
    if let listed = json["unstable_features"] {
      for member in listed.members where member.value.bool == true { features.insert(member.key) }
    }
    unstableFeatures = features
  }

  /// Whether the server speaks this version or a later one of the same major version.
  public func supports(major: Int, minor: Int) -> Bool {
    versions.contains { version in
      let parts = Self.numbers(version)
      return parts?.major == major && (parts?.minor ?? -1) >= minor
    }
  }

  public func has(_ unstableFeature: ByteString) -> Bool { unstableFeatures.contains(unstableFeature) }

  /// Whether member events can be left out of a sync: since v1.1, and r0.5.0. Spec: "Lazy-loading room members".
  public var supportsLazyLoading: Bool {
    supports(major: 1, minor: 0) || has("m.lazy_load_members")
      || versions.contains { version in
        guard version.hasPrefix("r0.") else { return false }
        return (Self.number(version.utf8.dropFirst(3).prefix { $0 != UInt8(ascii: ".") }) ?? 0) >= 5
      }
  }

  /// Of `vX.Y`.
  private static func numbers(_ version: ByteString) -> (major: Int, minor: Int)? {
    guard version.hasPrefix("v") else { return nil }
    let parts = version.utf8.dropFirst().split(separator: UInt8(ascii: "."))
    guard parts.count == 2, let major = number(parts[0]), let minor = number(parts[1]) else { return nil }
    return (major, minor)
  }

  private static func number(_ digits: some Collection<UInt8>) -> Int? {
    guard (1...6).contains(digits.count), digits.allSatisfy({ $0 &- 48 < 10 }) else { return nil }
    return digits.reduce(0) { $0 * 10 + Int($1 - 48) }
  }
}

/// What the account may do on this server. Spec: "Capabilities negotiation".
///
/// Where the server says nothing, the spec's default holds.
public struct Capabilities: Sendable {
  public let canChangePassword: Bool
  public let canChangeDisplayName: Bool
  public let canChangeAvatar: Bool
  public let canChangeThirdPartyIDs: Bool
  /// Whether `Query.loginToken()` works here.
  public let canGetLoginToken: Bool
  /// Whether the server forgets a room as soon as the user leaves it.
  public let forgetsRoomsUponLeave: Bool
  public let defaultRoomVersion: ByteString
  /// Versions in which rooms can be made, and whether they are stable.
  public let roomVersions: [(version: ByteString, isStable: Bool)]
  /// Everything the server says, with what this client has no name for.
  public let all: JSON

  init?(_ json: JSON) {
    guard let all = json["capabilities"], all.isObject else { return nil }
    self.all = all
    func isOn(_ name: StaticString, otherwise: Bool) -> Bool { all[name]?.bool("enabled") ?? otherwise }
    canChangePassword = isOn("m.change_password", otherwise: true)
    canChangeThirdPartyIDs = isOn("m.3pid_changes", otherwise: true)
    canGetLoginToken = isOn("m.get_login_token", otherwise: false)
    forgetsRoomsUponLeave = isOn("m.forget_forced_upon_leave", otherwise: false)
    let fields = all["m.profile_fields"]
    canChangeDisplayName =
      isOn("m.set_displayname", otherwise: true) && Self.allows("displayname", fields)
    canChangeAvatar = isOn("m.set_avatar_url", otherwise: true) && Self.allows("avatar_url", fields)
    let rooms = all["m.room_versions"]
    defaultRoomVersion = rooms?.text("default") ?? "1"
    roomVersions =
      rooms?["available"]?.members.map { ($0.key, $0.value.isString("stable")) } ?? [("1", true)]
  }

  /// Whether the account may set this field of its profile.
  public func canChangeProfileField(_ field: ByteString) -> Bool {
    if field == "displayname" as ByteString { return canChangeDisplayName }
    if field == "avatar_url" as ByteString { return canChangeAvatar }
    return Self.allows(field, all["m.profile_fields"])
  }

  private static func allows(_ field: ByteString, _ capability: JSON?) -> Bool {
    guard let capability else { return true }
    guard capability.bool("enabled") ?? true else { return false }
    if let allowed = capability["allowed"], allowed.isArray { return allowed.elements.contains { $0.text == field } }
    return !(capability["disallowed"]?.elements.contains { $0.text == field } ?? false)
  }
}

/// How one can log in. Spec: "Login".
public struct LoginFlows: Sendable {
  /// `m.login.password`, `m.login.sso` …, as the server lists them.
  public let types: [ByteString]
  /// Where `m.login.sso` lets one choose.
  public let identityProviders: [IdentityProvider]
  /// Whether another device may ask for a login token, see `Query.loginToken()`.
  public let allowsLoginTokens: Bool
  /// What it takes to create an account; nil if the server does not say. Documentation/Extensions.md
  public let registration: Registration?
  /// Whether anybody may be a guest (`SessionCommand.registerGuest`), as far as the server says. Documentation/Extensions.md
  public let allowsGuests: Bool

  public var allowsPassword: Bool { types.contains("m.login.password") }
  public var allowsSingleSignOn: Bool { types.contains("m.login.sso") }
  public var allowsToken: Bool { types.contains("m.login.token") }
  public var allowsJWT: Bool { types.contains("org.matrix.login.jwt") }

  package init?(_ json: JSON) {
    guard let flows = json["flows"], flows.isArray else { return nil }
    types = flows.elements.compactMap { $0.text("type") }
    let signOn = flows.elements.first { $0["type"]?.isString("m.login.sso") ?? false }
    identityProviders = signOn?["identity_providers"]?.elements.compactMap { IdentityProvider($0) } ?? []
    allowsGuests = json.bool("martlet.guests") ?? false
    registration = json.text("martlet.registration").flatMap { Registration(word: $0) }
    allowsLoginTokens = flows.elements.contains { $0.bool("get_login_token") ?? false }
  }

  public enum Registration: UInt8, Sendable {
    /// Only a name and a password.
    case open
    /// A registration token as well.
    case token
    case closed
    /// More than that.
    case other

    init?(word: ByteString) {
      switch word {
      case "open": self = .open
      case "token": self = .token
      case "closed": self = .closed
      case "other": self = .other
      default: return nil
      }
    }
  }

  /// Spec: "Client login via SSO".
  public struct IdentityProvider: Sendable, Hashable {
    public let id: ByteString
    public let name: ByteString
    public let icon: MediaURI?
    /// `github`, `google` …, for which a client can show its own logo.
    public let brand: ByteString?

    init?(_ json: JSON) {
      guard let id = json.text("id"), let name = json.text("name") else { return nil }
      self.id = id
      self.name = name
      icon = MediaURI(json["icon"])
      brand = json.text("brand")
    }
  }
}

/// The account and device of an access token.
public struct TokenOwner: Sendable, Hashable {
  public let userID: UserID
  /// nil for the token of an application service.
  public let deviceID: DeviceID?
  public let isGuest: Bool
}
