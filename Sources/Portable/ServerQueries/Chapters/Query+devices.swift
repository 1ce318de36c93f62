import JSON
import MatrixModel

/// The devices of the account. Spec: Client-Server API, "Device management".
extension Query {
  public static func devices() -> Query<[Device]> {
    Query<[Device]>(.getDevices, Endpoint.getDevices.path()) { $0["devices"]?.elements.compactMap { Device($0) } }
  }

  public static func device(_ id: DeviceID) -> Query<Device> {
    Query<Device>(.getDevice, Endpoint.getDevice.path(id.text)) { Device($0) }
  }

  public static func renameDevice(_ id: DeviceID, _ name: ByteString) -> Query<Void> {
    Query<Void>(
      .updateDevice, Endpoint.updateDevice.path(id.text), body: JSONWriter.object { $0.member("display_name", name) })
  }

  /// Ends its session. The server asks for authentication.
  public static func deleteDevice(_ id: DeviceID) -> Query<Void> {
    Query<Void>(.deleteDevice, Endpoint.deleteDevice.path(id.text), body: Array("{}".utf8))
  }

  /// Ends their sessions. The server asks for authentication.
  public static func deleteDevices(_ ids: [DeviceID]) -> Query<Void> {
    let body = JSONWriter.object { writer in
      writer.key("devices")
      writer.array { writer in for id in ids { writer.write(id) } }
    }
    return Query<Void>(.deleteDevices, Endpoint.deleteDevices.path(), body: body)
  }
}

/// One login of the account.
public struct Device: Sendable, Hashable {
  public let id: DeviceID
  public let name: ByteString?
  /// Where it was seen last, some minutes ago maybe.
  public let lastSeenIP: ByteString?
  /// Milliseconds since 1970.
  public let lastSeenMilliseconds: Int64?
  /// When it signed in, in milliseconds since 1970 (`martlet.signed_in_ts`); nil if the server does not say.
  public let signedInMilliseconds: Int64?

  init?(_ json: JSON) {
    guard let id = DeviceID(json["device_id"]) else { return nil }
    self.id = id
    name = json.text("display_name")
    lastSeenIP = json.text("last_seen_ip")
    lastSeenMilliseconds = json.integer("last_seen_ts")
    signedInMilliseconds = json.integer("martlet.signed_in_ts")
  }
}
