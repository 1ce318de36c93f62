import Database
import JSON
import MatrixModel
import Outbound

/// Where notifications of one user go. Spec: Client-Server API, "Push Notifications".
package struct Pusher: Sendable {
  /// What tells pushers apart.
  package struct ID: Hashable, Sendable {
    package let userID: UserID
    package let appID: ByteString
    package let pushkey: ByteString
  }

  package enum Kind: String, Sendable {
    case http, email
    /// Spec: MSC4174.
    case webPush = "webpush"

    /// As a client names it. MSC4174 has names of its own until it is accepted.
    init?(name: String) { self.init(rawValue: name == "org.matrix.msc4174.webpush" ? "webpush" : name) }
  }

  /// The `app_id` of every e-mail pusher, and of no other. Spec: `POST /pushers/set`.
  static let mailAppID: ByteString = "m.email"

  package let id: ID
  package let kind: Kind
  /// The device that set it and takes it along when it goes; nil for one that no device set.
  package let deviceID: DeviceID?
  package let appDisplayName: ByteString
  package let deviceDisplayName: ByteString
  package let profileTag: ByteString?
  package let language: ByteString
  package let data: JSON
  /// Whether events wait for it; a pusher of kind `webpush` begins without.
  private(set) var isActive = false

  /// As `GET /pushers` shows it.
  package func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("pushkey", id.pushkey)
      writer.member("kind", kind.rawValue)
      writer.member("app_id", id.appID)
      writer.member("app_display_name", appDisplayName)
      writer.member("device_display_name", deviceDisplayName)
      if let profileTag { writer.member("profile_tag", profileTag) }
      writer.member("lang", language)
      writer.member("data", data)
      if kind == .webPush { writer.member("activated", isActive) }
    }
  }

  /// Whether the gateway wants IDs only.
  var isEventIDOnly: Bool { data["format"]?.isString("event_id_only") ?? false }

  /// Whether it is told of events alone, not of new numbers: some browsers end subscriptions that show nothing for a push.
  var isEventsOnly: Bool { data["events_only"]?.bool ?? false }

  /// Whether both pushers belong to the same subscription: same address, same key.
  func isSameSubscription(as other: Pusher) -> Bool {
    data["url"]?.text == other.data["url"]?.text && data["auth"]?.text == other.data["auth"]?.text
  }
}

extension Pusher {
  static let appIDCharactersLimit = 64
  static let pushkeyBytesLimit = 512
  /// Bytes of the names, the tag and the language, each.
  static let nameBytesLimit = 255
  static let dataBytesLimit = 8 << 10

  /// A pusher as a client sets it. Throws `M_MISSING_PARAM`, `M_BAD_JSON`, `M_INVALID_PARAM`.
  init(_ body: JSON, _ id: ID, by deviceID: DeviceID?, _ gateways: PushGatewayAddresses) throws(MatrixError) {
    guard let kind = Kind(name: try body.requiredText("kind").string) else {
      throw .invalidParameter("'kind' is http, webpush, email or null.")
    }
    func name(_ key: StaticString) throws(MatrixError) -> ByteString {
      let name = try body.requiredText(key)
      try Self.check(name, key)
      return name
    }
    self.id = id
    self.kind = kind
    // Mails are for who is away from their devices: they end with the address, not with a device.
    self.deviceID = kind == .email ? nil : deviceID
    appDisplayName = try name("app_display_name")
    deviceDisplayName = try name("device_display_name")
    language = try name("lang")
    profileTag = try body.optionalText("profile_tag")
    if let profileTag { try Self.check(profileTag, "profile_tag") }
    data = try body.requiredObject("data")
    guard data.bytes.count <= Self.dataBytesLimit else {
      throw .invalidParameter("'data' has at most \(Self.dataBytesLimit) bytes.")
    }
    switch kind {
    case .http:
      guard id.appID != Self.mailAppID else { throw .invalidParameter("'app_id' m.email is for pushers of kind email.") }
      guard gateways.destination(of: try data.requiredText("url")) != nil else {
        throw .invalidParameter("'url' in 'data' is an https URL with the path \(PushGatewayAddresses.path).")
      }
      try Self.checkFormat(data)
    case .webPush:
      guard id.appID != Self.mailAppID else { throw .invalidParameter("'app_id' m.email is for pushers of kind email.") }
      _ = try WebPushSubscription(pushkey: id.pushkey, data: data, gateways)
      try Self.checkFormat(data)
    case .email:
      guard id.appID == Self.mailAppID else { throw .invalidParameter("'app_id' of an e-mail pusher is m.email.") }
      guard id.mailAddress != nil else { throw .invalidParameter("'pushkey' of an e-mail pusher is an e-mail address.") }
    }
  }

  private static func checkFormat(_ data: JSON) throws(MatrixError) {
    if let format = try data.optionalText("format"), format != "event_id_only" {
      throw .invalidParameter("'format' in 'data' is event_id_only or left out.")
    }
  }

  private static func check(_ text: ByteString, _ key: StaticString) throws(MatrixError) {
    guard text.count <= nameBytesLimit else { throw .invalidParameter("'\(key)' has at most \(nameBytesLimit) bytes.") }
  }

  /// From a row that begins with the columns of the table in their order, up to `data`, and `is_active`.
  init(_ row: Row) {
    id = ID(userID: row.identifier(0), appID: ByteString(row.text(1)), pushkey: ByteString(row.text(2)))
    kind = Kind(rawValue: row.text(3)) ?? .http
    deviceID = row.optionalText(4).map { DeviceID(trusted: ByteString($0)) }
    appDisplayName = ByteString(row.text(5))
    deviceDisplayName = ByteString(row.text(6))
    profileTag = row.optionalText(7).map { ByteString($0) }
    language = ByteString(row.text(8))
    data = (try? JSON.parse(row.blob(9))) ?? .emptyObject
    isActive = row.integer(10) == 1
  }
}

extension Pusher.ID {
  /// `app_id` and `pushkey` of a body. Throws `M_MISSING_PARAM`, `M_BAD_JSON`, `M_INVALID_PARAM`.
  init(_ body: JSON, of userID: UserID) throws(MatrixError) {
    self.userID = userID
    appID = try body.requiredText("app_id")
    let pushkey = try body.requiredText("pushkey")
    // One address is one pusher, however it is written.
    let address = appID == Pusher.mailAppID ? MailAddress(pushkey.string) : nil
    self.pushkey = address.map { ByteString($0.description) } ?? pushkey
    guard !appID.isEmpty, appID.string.unicodeScalars.count <= Pusher.appIDCharactersLimit else {
      throw .invalidParameter("'app_id' has 1 to \(Pusher.appIDCharactersLimit) characters.")
    }
    guard !pushkey.isEmpty, pushkey.count <= Pusher.pushkeyBytesLimit else {
      throw .invalidParameter("'pushkey' has 1 to \(Pusher.pushkeyBytesLimit) bytes.")
    }
  }
}

extension Pusher.ID {
  /// The pusher of an address; one that the account does not have need not be.
  init(_ address: MailAddress, of userID: UserID) {
    self.init(userID: userID, appID: Pusher.mailAppID, pushkey: ByteString(address.description))
  }

  /// Where an e-mail pusher sends to; nil for any other pusher.
  var mailAddress: MailAddress? { appID == Pusher.mailAppID ? MailAddress(pushkey.string) : nil }
}

extension JSON {
  /// `{}`
  static let emptyObject: JSON = {
    guard let empty = try? JSON.object({ _ in }) else { preconditionFailure("{} is JSON") }
    return empty
  }()
}
