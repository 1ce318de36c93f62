import JSON
import MatrixModel

/// One device's part in a room's call, as its state event says: MatrixRTC (MSC4143, MSC3401) in the form that clients use today.
public struct CallMembership: Sendable, Equatable {
  public let stateKey: ByteString
  public let user: UserID
  public let device: ByteString
  /// Milliseconds since 1970 by the sender's clock: a claim.
  public let createdAt: Int64
  public let expiresAt: Int64
  /// What the device would meet at, the best one first.
  public let transports: [CallTransport]
  /// Whether it wants a picture (`m.call.intent`); nil where it does not say.
  public let wantsVideo: Bool?

  public static let eventType: EventType = "org.matrix.msc3401.call.member"

  /// Returns nil if the event does not belong to the room's call: left, another application, or malformed.
  public init?(_ event: Event) {
    let content = event.content
    guard event.type == Self.eventType, let key = event.stateKey, let user = event.sender,
      content["application"]?.isString("m.call") == true, content["call_id"]?.isString("") ?? true,
      let device = content.text("device_id"), DeviceID.accepts(device)
    else { return nil }
    stateKey = key
    self.user = user
    self.device = device
    createdAt = Self.time(content.integer("created_ts") ?? event.originServerTimestamp)
    let lifetime = content.integer("expires") ?? CallLimits.membershipMilliseconds
    expiresAt = createdAt + min(max(0, lifetime), CallLimits.longestMembershipMilliseconds)
    transports = (content["foci_preferred"] ?? content).elements.prefix(CallLimits.transports).compactMap { CallTransport($0) }
    wantsVideo = content["m.call.intent"].map { !$0.isString("audio") }
  }

  static func time(_ claimed: Int64?) -> Int64 { min(max(0, claimed ?? 0), CallLimits.timestamp) }

  /// The key under which a device writes its membership. The `_` keeps it from being a key that only this user may write, which a user ID
  /// with something behind it could not be (MSC3757 would change that).
  public static func stateKey(_ user: UserID, _ device: DeviceID) -> ByteString {
    ByteString(decoding: [UInt8(ascii: "_")] + user.text.utf8 + [UInt8(ascii: "_")] + device.text.utf8 + Array("_m.call".utf8))
  }

  /// What a device writes when it comes in, and again before that expires.
  /// - Parameters:
  ///   - createdAt: of the first time, when it is written again.
  ///   - lifetimeMilliseconds: from `createdAt`, or from when the server takes it.
  public static func joining(
    _ device: DeviceID, over transports: [CallTransport], wantsVideo: Bool, createdAt: Int64? = nil,
    lifetimeMilliseconds: Int64 = CallLimits.membershipMilliseconds
  ) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("application", "m.call" as ByteString)
      writer.member("call_id", "" as ByteString)
      writer.member("scope", "m.room" as ByteString)
      writer.member("device_id", device.text)
      writer.member("expires", lifetimeMilliseconds)
      if let createdAt { writer.member("created_ts", createdAt) }
      writer.member("m.call.intent", wantsVideo ? "video" as ByteString : "audio")
      writer.key("focus_active")
      writer.object { writer in
        writer.member("type", transports.first?.type ?? CallTransport.ownType)
        writer.member("focus_selection", "oldest_membership" as ByteString)
      }
      writer.array("foci_preferred", transports) { $1.raw($0.members) }
    }
    return writer.bytes
  }

  /// What it writes when it leaves, and what a delayed event writes for it when it is gone without a word (MSC4140).
  public static let leaving = Array("{}".utf8)
}

/// Where the devices of a call meet.
public struct CallTransport: Sendable, Equatable {
  public let type: ByteString
  /// The whole object.
  public let members: [UInt8]

  /// Our own: the call server of a homeserver.
  public static let ownType: ByteString = "martlet.call"

  init?(_ json: JSON) {
    guard let type = json.text("type"), json.bytes.count <= CallLimits.contentBytes else { return nil }
    self.type = type
    members = Array(json.bytes)
  }

  /// The call server of that homeserver, which makes the room's session.
  public init(server: ServerName) {
    type = Self.ownType
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("type", Self.ownType)
      writer.member("server_name", server.text)
    }
    members = writer.bytes
  }

  /// Of our own type.
  public var server: ServerName? {
    guard type == Self.ownType else { return nil }
    return ServerName((try? JSON.parse(members))?["server_name"])
  }
}
