public import ClientCore
import JSON
import MatrixModel

/// A device that is to be woken by pushes, as its system names it to a push gateway.
public struct PushDevice: Sendable, Hashable {
  /// What the system gave the application.
  public var token: [UInt8]
  /// By reverse DNS, without the suffix that tells the environments apart.
  public var applicationID: String
  /// The gateway has another certificate for programs that are being developed: `.dev` in the place of `.prod`.
  public var isDevelopment: Bool
  /// Base URL of the push gateway.
  public var gateway: String
  /// For people.
  public var applicationName: String
  public var deviceName: String
  /// An IETF language tag.
  public var language: String
  /// Only identifiers go to the gateway; the device asks for the rest (`MatrixClient.notification(for:in:)`).
  public var sendsEventIDOnly: Bool
  /// A JSON object for the gateway: what it hands on with each push.
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

  /// The token in base 64.
  public var key: ByteString { ByteString(decoding: PushDevice.base64(token)) }
  public var fullApplicationID: ByteString { ByteString(applicationID + (isDevelopment ? ".dev" : ".prod")) }

  /// - Parameter profileTag: 16 letters and digits; nil for new ones.
  public func pusher(profileTag: ByteString? = nil) -> Pusher {
    Pusher(
      key: key, appID: fullApplicationID, kind: .http(url: notifyURL, sendsEventIDOnly: sendsEventIDOnly),
      appDisplayName: ByteString(applicationName), deviceDisplayName: ByteString(deviceName),
      profileTag: profileTag ?? PushDevice.newProfileTag(), language: ByteString(language), extraData: extraData)
  }

  /// Spec: Push Gateway API: the path is given.
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
  /// Has the device woken by pushes from now on. Called again it brings the pusher up to date; its profile tag stays.
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
