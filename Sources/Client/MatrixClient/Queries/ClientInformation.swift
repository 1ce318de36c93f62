public import JSON
import MatrixModel

/// What program a device runs, in account data that clients in use read (`io.element.matrix_client_information.DEVICE`).
public struct ClientInformation: Sendable, Hashable {
  public var name: ByteString
  public var version: ByteString?
  public var url: ByteString?

  public init(name: ByteString, version: ByteString? = nil, url: ByteString? = nil) {
    self.name = name
    self.version = version
    self.url = url
  }

  /// nil where the content names no program.
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
