import JSON
import MatrixModel

/// Being told of events elsewhere. Spec: Client-Server API, "Push Notifications".
extension Call {
  public static func pushers() -> Call<[Pusher]> {
    Call<[Pusher]>(.getPushers, Endpoint.getPushers.path()) { $0["pushers"]?.elements.compactMap { Pusher($0) } }
  }

  /// Makes the pusher, or changes the one of that key and application.
  /// - Parameter keepsOthers: whether pushers of other users with this key and application stay.
  public static func setPusher(_ pusher: Pusher, keepsOthers: Bool = false) -> Call<Void> {
    let body = JSONWriter.object { writer in
      pusher.write(to: &writer)
      writer.member("append", keepsOthers)
    }
    return Call<Void>(.postPusher, Endpoint.postPusher.path(), body: body)
  }

  public static func deletePusher(key: ByteString, appID: ByteString) -> Call<Void> {
    let body = JSONWriter.object { writer in
      writer.member("pushkey", key)
      writer.member("app_id", appID)
      writer.key("kind")
      writer.null()
    }
    return Call<Void>(.postPusher, Endpoint.postPusher.path(), body: body)
  }

  /// The account's push rules as the server has them. The client keeps them up to date by itself; this asks once more.
  public static func pushRules() -> Call<JSON> {
    Call<JSON>(.getPushRules, Endpoint.getPushRules.path()) { $0["global"] }
  }

  /// Events that one was notified of, the newest first. Spec: "Listing Notifications".
  /// - Parameter from: `NotificationPage.nextBatch` of the page before.
  public static func notifications(
    highlightsOnly: Bool = false, limit: Int? = nil, from: ByteString? = nil
  ) -> Call<NotificationPage> {
    let query = Query().adding("only", highlightsOnly ? "highlight" : nil as ByteString?).adding("limit", limit)
      .adding("from", from)
    return Call<NotificationPage>(.getNotifications, Endpoint.getNotifications.path(), query: query) {
      NotificationPage($0)
    }
  }
}

/// Where the server tells of events: a push gateway, or an e-mail address. Spec: `POST /pushers/set`.
public struct Pusher: Sendable {
  public enum Kind: Sendable, Hashable {
    /// A push gateway at this URL. `sendsEventIDOnly` keeps everything but identifiers from it (`event_id_only`).
    case http(url: ByteString, sendsEventIDOnly: Bool)
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
    guard let key = json["pushkey"]?.text, let app = json["app_id"]?.text, let kind = json["kind"]?.text else {
      return nil
    }
    let data = json["data"]
    if kind == "http" as StaticString {
      let format = data?["format"]
      self.kind = .http(
        url: data?["url"]?.text ?? "", sendsEventIDOnly: format?.isString("event_id_only") ?? false)
    } else {
      self.kind = kind == "email" as StaticString ? .email : .other(kind)
    }
    self.key = key
    appID = app
    appDisplayName = json["app_display_name"]?.text ?? ""
    deviceDisplayName = json["device_display_name"]?.text ?? ""
    profileTag = json["profile_tag"]?.text
    language = json["lang"]?.text ?? ""
    extraData = data.map { Array($0.bytes) }
  }

  func write(to writer: inout JSONWriter) {
    writer.member("pushkey", key)
    writer.member("app_id", appID)
    switch kind {
    case .http: writer.member("kind", "http")
    case .email: writer.member("kind", "email")
    case .other(let name): writer.member("kind", name)
    }
    writer.member("app_display_name", appDisplayName)
    writer.member("device_display_name", deviceDisplayName)
    if let profileTag { writer.member("profile_tag", profileTag) }
    writer.member("lang", language)
    writer.key("data")
    writer.object { writer in
      if case .http(let url, let sendsEventIDOnly) = kind {
        writer.member("url", url)
        if sendsEventIDOnly { writer.member("format", "event_id_only") }
      }
      guard let extra = extraData.flatMap({ Answer.parse($0) }) else { return }
      for member in extra.members where !member.isKey("url") && !member.isKey("format") {
        writer.key(member.key)
        writer.write(member.value)
      }
    }
  }
}

/// A page of what one was notified of.
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
        action["set_tweak"]?.isString("highlight") ?? false && action["value"]?.bool ?? true
      }
      return Entry(
        roomID: room, event: event, isRead: entry["read"]?.bool ?? false, isHighlight: isHighlight ?? false,
        timestampMilliseconds: entry["ts"]?.integer ?? 0)
    }
    nextBatch = json["next_token"]?.text
  }
}
