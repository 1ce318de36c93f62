import Testing

@testable import MatrixClient

@Suite struct PushDeviceTests {
  static func device(_ gateway: String, isDevelopment: Bool = false) -> PushDevice {
    PushDevice(
      token: Array("foobar".utf8), applicationID: "org.example.app", isDevelopment: isDevelopment, gateway: gateway,
      applicationName: "Example", deviceName: "Phone")
  }

  /// RFC 4648 §10.
  @Test(arguments: [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE=")])
  func `tokens are written in base 64`(text: String, encoded: String) {
    #expect(PushDevice.base64(Array(text.utf8)) == Array(encoded.utf8))
  }

  @Test(arguments: ["https://push.example.org", "https://push.example.org/", "https://push.example.org/_matrix/push/v1/notify"])
  func `the gateway is asked at the path of the specification`(gateway: String) {
    let pusher = Self.device(gateway).pusher()
    #expect(pusher.kind == .http(url: "https://push.example.org/_matrix/push/v1/notify", sendsEventIDOnly: true))
    #expect(pusher.key == "Zm9vYmFy" && pusher.language == "en")
    #expect(pusher.profileTag?.count == 16)
  }

  @Test func `environments have applications of their own`() {
    #expect(Self.device("https://p").fullApplicationID == "org.example.app.prod")
    #expect(Self.device("https://p", isDevelopment: true).fullApplicationID == "org.example.app.dev")
  }
}
