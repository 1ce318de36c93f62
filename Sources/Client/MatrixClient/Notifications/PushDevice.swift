public import ClientCore
import JSON
import MatrixModel

/// A device that receives pushes, as its system identifies it to a push gateway.
public struct PushDevice: Sendable, Hashable {
  /// The token that the system gave to the app.
  public var token: [UInt8]
  /// The ID of the app in reverse DNS notation, without the suffix for the environment.
  public var applicationID: String
  /// Whether the app ID gets the suffix `.dev` instead of `.prod`. The gateway has another certificate for apps in development.
  public var isDevelopment: Bool
  /// The base URL of the push gateway.
  public var gateway: String
  /// The name of the app, for users.
  public var applicationName: String
  /// The name of the device, for users.
  public var deviceName: String
  /// The language of the user, as an IETF language tag.
  public var language: String
  /// Whether the gateway gets only IDs. The device then requests the content (`MatrixClient.notification(for:in:)`).
  public var sendsEventIDOnly: Bool
  /// A JSON object that the gateway passes on with each push.
  public var extraData: [UInt8]?

  public init(
    token: [UInt8], applicationID: String, isDevelopment: Bool = false, gateway: String, applicationName: String,
    deviceName: String, language: String = "en", sendsEventIDOnly: Bool = true, extraData: [UInt8]? = nil
  ) {
    self.token = token
    self.applicationID = applicationID
    self.isDevelopment = isDevelopment
    self.gateway = gateway
    self.applicationName = applicationName
    self.deviceName = deviceName
    self.language = language
    self.sendsEventIDOnly = sendsEventIDOnly
    self.extraData = extraData
  }

  /// The token in Base64.
  public var key: ByteString { ByteString(decoding: PushDevice.base64(token)) }
  public var fullApplicationID: ByteString { ByteString(applicationID + (isDevelopment ? ".dev" : ".prod")) }

  /// Returns the pusher for the device.
  /// - Parameter profileTag: 16 letters and digits; nil for a new tag.
  public func pusher(profileTag: ByteString? = nil) -> Pusher {
    Pusher(
      key: key, appID: fullApplicationID, kind: .http(url: notifyURL, sendsEventIDOnly: sendsEventIDOnly),
      appDisplayName: ByteString(applicationName), deviceDisplayName: ByteString(deviceName),
      profileTag: profileTag ?? PushDevice.newProfileTag(), language: ByteString(language), extraData: extraData)
  }

  /// The specification sets the path. Spec: Push Gateway API.
  private var notifyURL: ByteString {
    let path = "/_matrix/push/v1/notify"
    var base = gateway
    while base.hasSuffix("/") { base.removeLast() }
    return ByteString(base.hasSuffix(path) ? base : base + path)
  }

  private static func newProfileTag() -> ByteString {
    let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)
    return ByteString(decoding: (0..<16).map { _ in letters[Int.random(in: letters.indices)] })
  }

  /// RFC 4648 §4, with padding.
  static func base64(_ bytes: [UInt8]) -> [UInt8] {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var bits: UInt32 = 0
      for i in 0..<3 { bits = bits << 8 | (i < group.count ? UInt32(group[start + i]) : 0) }
      for i in 0..<4 {
        text.append(i <= group.count ? alphabet[Int(bits >> UInt32(18 - 6 * i) & 63)] : UInt8(ascii: "="))
      }
    }
    return text
  }
}

extension MatrixClient {
  /// Creates the pusher of the device, or updates it. An update keeps its profile tag.
  @discardableResult
  public func enablePush(_ device: PushDevice) async throws(ClientError) -> Pusher {
    let known = try await pushers().first { $0.key == device.key && $0.appID == device.fullApplicationID }
    let pusher = device.pusher(profileTag: known?.profileTag)
    try await setPusher(pusher)
    return pusher
  }

  public func disablePush(_ device: PushDevice) async throws(ClientError) {
    try await deletePusher(key: device.key, appID: device.fullApplicationID)
  }
}
