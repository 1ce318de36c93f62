public import JSON
import MatrixModel

/// The program of a device, in the account data that existing clients read (`io.element.matrix_client_information.DEVICE`).
public struct ClientInformation: Sendable, Hashable {
  public var name: ByteString
  public var version: ByteString?
  public var url: ByteString?

  public init(name: ByteString, version: ByteString? = nil, url: ByteString? = nil) {
    self.name = name
    self.version = version
    self.url = url
  }

  /// Reads the content; nil if it does not name a program.
  init?(_ content: JSON) {
    guard let name = content["name"]?.text else { return nil }
    self.init(name: name, version: content["version"]?.text, url: content["url"]?.text)
  }

  static func type(of device: DeviceID) -> EventType {
    EventType(trusted: ByteString("io.element.matrix_client_information." + device.string))
  }

  var content: [UInt8] {
    JSONWriter.object { writer in
      writer.member("name", name)
      if let version { writer.member("version", version) }
      if let url { writer.member("url", url) }
    }
  }
}
