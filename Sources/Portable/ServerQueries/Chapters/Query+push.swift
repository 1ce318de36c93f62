import JSON
import MatrixModel

/// Being told of events elsewhere. Spec: Client-Server API, "Push Notifications".
extension Query {
  public static func pushers() -> Query<[Pusher]> {
    Query<[Pusher]>(.getPushers, Endpoint.getPushers.path()) { $0["pushers"]?.elements.compactMap { Pusher($0) } }
  }

  /// Makes the pusher, or changes the one of that key and application.
  /// - Parameter keepsOthers: whether pushers of other users with this key and application stay.
  public static func setPusher(_ pusher: Pusher, keepsOthers: Bool = false) -> Query<Void> {
    let body = JSONWriter.object { writer in
      pusher.write(to: &writer)
      writer.member("append", keepsOthers)
    }
    return Query<Void>(.postPusher, Endpoint.postPusher.path(), body: body)
  }

  /// What a browser subscribes with to be pushed to by this server (`applicationServerKey`, in URL-safe Base64); nil where the server
  /// has no Web Push. Spec: MSC4174.
  public static var webPushKey: Query<ByteString?> {
    Query<ByteString?>(.getCapabilities, Endpoint.getCapabilities.path()) { json in
      let all = json["capabilities"]
      guard let offer = all?["m.webpush"] ?? all?["org.matrix.msc4174.webpush"], offer.bool("enabled") ?? false else {
        return .some(nil)
      }
      return .some(offer.text("vapid"))
    }
  }

  /// Sends back what a Web Push pusher was pushed first, `app_id` and `ack_token`: nothing else is pushed to it before. Spec: MSC4174.
  public static func activatePusher(appID: ByteString, token: ByteString) -> Query<Void> {
    let body = JSONWriter.object { writer in
      writer.member("app_id", appID)
      writer.member("ack_token", token)
    }
    return Query<Void>(.activatePusher, Endpoint.activatePusher.path(), body: body)
  }

  public static func deletePusher(key: ByteString, appID: ByteString) -> Query<Void> {
    let body = JSONWriter.object { writer in
      writer.member("pushkey", key)
      writer.member("app_id", appID)
      writer.key("kind")
      writer.null()
    }
    return Query<Void>(.postPusher, Endpoint.postPusher.path(), body: body)
  }

  /// The account's push rules as the server has them. The client keeps them up to date by itself; this asks once more.
  public static func pushRules() -> Query<JSON> {
    Query<JSON>(.getPushRules, Endpoint.getPushRules.path()) { $0["global"] }
  }

  /// Returns the events that the user was notified of, the newest first. Spec: "Listing Notifications".
  /// - Parameter from: `NotificationPage.nextBatch` of the page before.
  public static func notifications(
    highlightsOnly: Bool = false, limit: Int? = nil, from: ByteString? = nil
  ) -> Query<NotificationPage> {
    let parameters = URLQuery().adding("only", highlightsOnly ? "highlight" : nil as ByteString?).adding("limit", limit)
      .adding("from", from)
    return Query<NotificationPage>(.getNotifications, Endpoint.getNotifications.path(), parameters: parameters) {
      NotificationPage($0)
    }
  }
}

/// Where the server tells of events: a push gateway, a browser, or an e-mail address. Spec: `POST /pushers/set`.
public struct Pusher: Sendable {
  public enum Kind: Sendable, Hashable {
    /// A push gateway at this URL. `sendsEventIDOnly` keeps everything but identifiers from it (`event_id_only`).
    case http(url: ByteString, sendsEventIDOnly: Bool)
    /// A browser, or what else has a Web Push subscription. The pusher's key is the subscription's (`p256dh`), `url` its `endpoint`,
    /// `secret` its `auth`. Nothing comes before `Query.activatePusher`. Spec: MSC4174.
    case webPush(url: ByteString, secret: ByteString, sendsEventIDOnly: Bool)
    /// The pusher's key is the address.
    case email
    case other(ByteString)
  }

  /// What the gateway knows this device by, at most 512 bytes.
  public var key: ByteString
  /// By reverse DNS, at most 64 bytes.
  public var appID: ByteString
  public var kind: Kind
  /// For people: what is told of, and where.
  public var appDisplayName: ByteString
  public var deviceDisplayName: ByteString
  /// Which device-specific push rules hold.
  public var profileTag: ByteString?
  /// An IETF language tag.
  public var language: ByteString
  /// A JSON object that goes into `data` as it is: what the gateway wants to know besides.
  public var extraData: [UInt8]?
  /// What the server says of a pusher of kind `webPush`: whether it was activated. nil for others.
  public private(set) var isActivated: Bool?

  public init(
    key: ByteString, appID: ByteString, kind: Kind, appDisplayName: ByteString, deviceDisplayName: ByteString,
    profileTag: ByteString? = nil, language: ByteString = "en", extraData: [UInt8]? = nil
  ) {
    self.key = key
    self.appID = appID
    self.kind = kind
    self.appDisplayName = appDisplayName
    self.deviceDisplayName = deviceDisplayName
    self.profileTag = profileTag
    self.language = language
    self.extraData = extraData
  }

  init?(_ json: JSON) {
    guard let key = json.text("pushkey"), let app = json.text("app_id"), let kind = json.text("kind") else {
      return nil
    }
    let data = json["data"]
    let (url, sendsEventIDOnly) = (data?.text("url") ?? "", data?["format"]?.isString("event_id_only") ?? false)
    if kind == "http" as StaticString {
      self.kind = .http(url: url, sendsEventIDOnly: sendsEventIDOnly)
    } else if kind == "webpush" as StaticString {
      self.kind = .webPush(url: url, secret: data?.text("auth") ?? "", sendsEventIDOnly: sendsEventIDOnly)
      isActivated = json.bool("activated") ?? false
    } else {
      self.kind = kind == "email" as StaticString ? .email : .other(kind)
    }
    self.key = key
    appID = app
    appDisplayName = json.text("app_display_name") ?? ""
    deviceDisplayName = json.text("device_display_name") ?? ""
    profileTag = json.text("profile_tag")
    language = json.text("lang") ?? ""
    extraData = data.map { Array($0.bytes) }
  }

  func write(to writer: inout JSONWriter) {
    writer.member("pushkey", key)
    writer.member("app_id", appID)
    switch kind {
    case .http: writer.member("kind", "http")
    case .webPush: writer.member("kind", "webpush")
    case .email: writer.member("kind", "email")
    case .other(let name): writer.member("kind", name)
    }
    writer.member("app_display_name", appDisplayName)
    writer.member("device_display_name", deviceDisplayName)
    if let profileTag { writer.member("profile_tag", profileTag) }
    writer.member("lang", language)
    writer.key("data")
    writer.object { writer in
      var secret: ByteString?
      switch kind {
      case .http(let url, let sendsEventIDOnly): Pusher.write(url, sendsEventIDOnly, to: &writer)
      case .webPush(let url, let given, let sendsEventIDOnly):
        secret = given
        Pusher.write(url, sendsEventIDOnly, to: &writer)
        writer.member("auth", given)
      case .email, .other: break
      }
      guard let extra = extraData.flatMap({ Answer.parse($0) }) else { return }
      for member in extra.members where !member.isKey("url") && !member.isKey("format") {
        if secret != nil, member.isKey("auth") { continue }
        writer.key(member.key)
        writer.write(member.value)
      }
    }
  }

  private static func write(_ url: ByteString, _ sendsEventIDOnly: Bool, to writer: inout JSONWriter) {
    writer.member("url", url)
    if sendsEventIDOnly { writer.member("format", "event_id_only") }
  }
}

/// A page of the events that the user was notified of.
public struct NotificationPage: Sendable {
  public struct Entry: Sendable {
    public let roomID: RoomID
    public let event: Event
    public let isRead: Bool
    public let isHighlight: Bool
    /// When, in milliseconds since 1970.
    public let timestampMilliseconds: Int64
  }

  public let entries: [Entry]
  /// For `from` of the next page; nil at the end.
  public let nextBatch: ByteString?

  init?(_ json: JSON) {
    guard let listed = json["notifications"], listed.isArray else { return nil }
    entries = listed.elements.compactMap { entry in
      guard let room = RoomID(entry["room_id"]), let event = entry["event"].flatMap({ Event($0) }) else { return nil }
      let isHighlight = entry["actions"]?.elements.contains { action in
        action["set_tweak"]?.isString("highlight") ?? false && action.bool("value") ?? true
      }
      return Entry(
        roomID: room, event: event, isRead: entry.bool("read") ?? false, isHighlight: isHighlight ?? false,
        timestampMilliseconds: entry.integer("ts") ?? 0)
    }
    nextBatch = json.text("next_token")
  }
}
