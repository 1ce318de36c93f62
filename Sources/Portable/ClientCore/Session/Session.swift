import JSON
import MatrixModel

/// A login: who, on which device, with which tokens.
///
/// Spec: Client-Server API, "Client Authentication".
public struct Session: Sendable, Hashable {
  public let userID: UserID
  public let deviceID: DeviceID
  public internal(set) var accessToken: ByteString
  /// Gets the next access token once; nil where the server gives tokens that do not expire.
  public internal(set) var refreshToken: ByteString?
  /// Where the homeserver was found; nil where nobody said.
  public internal(set) var homeserver: ServerURL?
  /// When the server stops taking the access token, in milliseconds since 1970 by this machine's clock; nil where it did not say.
  public internal(set) var expiresAtMilliseconds: Int64?
  /// When to ask for the next one.
  var refreshAtMilliseconds: Int64?

  /// - Parameter expiresAtMilliseconds: of the access token; nil where it is not known.
  public init(
    userID: UserID, deviceID: DeviceID, accessToken: ByteString, refreshToken: ByteString? = nil,
    homeserver: ServerURL? = nil, expiresAtMilliseconds: Int64? = nil
  ) {
    self.userID = userID
    self.deviceID = deviceID
    self.accessToken = accessToken
    self.refreshToken = refreshToken
    self.homeserver = homeserver
    self.expiresAtMilliseconds = expiresAtMilliseconds
    refreshAtMilliseconds = expiresAtMilliseconds.map { $0 &- Limits.refreshMarginMilliseconds }
  }

  /// Reads the answer to a login or a registration. Returns nil if it is not valid. Spec: `POST /login`.
  init?(_ json: JSON, homeserver: ServerURL?, now: Int64) {
    guard let user = UserID(json["user_id"]), let device = DeviceID(json["device_id"]),
      let token = json.text("access_token")
    else { return nil }
    self.init(
      userID: user, deviceID: device, accessToken: token, refreshToken: json.text("refresh_token"),
      homeserver: homeserver)
    expires(inMilliseconds: json.integer("expires_in_ms"), now)
  }

  /// - Parameter lifetime: of the access token, from now on.
  private mutating func expires(inMilliseconds lifetime: Int64?, _ now: Int64) {
    guard let lifetime, lifetime >= 0, lifetime < JSON.countLimit * 1_000 else {
      expiresAtMilliseconds = nil
      refreshAtMilliseconds = nil
      return
    }
    expiresAtMilliseconds = now + lifetime
    refreshAtMilliseconds = now + lifetime - min(lifetime / 4, Limits.refreshMarginMilliseconds)
  }

  /// With the tokens of a refresh; nil where the answer has none. Spec: `POST /refresh`.
  func refreshed(_ json: JSON, now: Int64) -> Session? {
    guard let token = json.text("access_token") else { return nil }
    var next = self
    next.accessToken = token
    if let refreshToken = json.text("refresh_token") { next.refreshToken = refreshToken }
    next.expires(inMilliseconds: json.integer("expires_in_ms"), now)
    return next
  }
}

/// Without the tokens: it may stand in a log.
extension Session: CustomStringConvertible {
  public var description: String { userID.string + " on " + deviceID.string }
}
