import EncryptionLink
import JSON
import MatrixModel

/// Events between devices for programs beside the page, which have no machine of their own.
extension PageEncryption {
  /// Sends what such a program asks for: the `type` and `content` of an event, and the `devices` that are to get it, each with `user` and `device`.
  ///
  /// - Parameter then: hears the devices that it was sent to; nil if nothing can be encrypted any more.
  package func tell(_ request: JSON, _ then: @escaping ([LinkDevice]?) -> Void) {
    let devices = request["devices"]?.elements.compactMap { LinkDevice($0) } ?? []
    let event = DeviceEvent(type: request.text("type") ?? "", content: Array((request["content"] ?? request).bytes))
    perform(.tell(event, devices)) { outcome in
      switch outcome {
      case .told(let devices)?: then(devices)
      case nil: then(nil)
      default: then([])
      }
    }
  }
}

extension LinkDevice {
  init?(_ json: JSON) {
    guard let user = json.text("user"), let device = json.text("device") else { return nil }
    self.init(user: user, device: device)
  }

  package func write(to writer: inout JSONWriter) {
    writer.member("user", user)
    writer.member("device", device)
  }
}
