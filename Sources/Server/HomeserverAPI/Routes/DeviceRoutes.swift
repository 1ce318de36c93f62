import HTTPServer
import JSON
import MatrixModel
import ServerAccounts

/// A user's devices.
extension Routes {
  mutating func addDeviceRoutes() {
    let (devices, sessions) = (homeserver.devices, homeserver.sessions)
    addDeviceDeletionRoutes()

    on(.getDevices) { _, session in
      let all = try await devices.all(of: session.userID)
      return .json { writer in
        writer.object { writer in
          writer.array("devices", all) { Self.write($0, to: &$1) }
        }
      }
    }

    on(.getDevice) { request, session in
      let device = try await devices.device(Self.deviceID(request), of: session.userID)
      return .json { Self.write(device, to: &$0) }
    }

    on(.updateDevice) { request, session in
      let deviceID = try Self.deviceID(request)
      let name = try await request.object().optionalText("display_name")
      if session.appService != nil {
        let isNew = try await devices.put(deviceID, of: session.userID, named: name?.string, sessions)
        return .json(Array("{}".utf8), status: isNew ? .created : .ok)
      }
      try await devices.rename(deviceID, of: session.userID, to: name?.string)
      return .emptyObject
    }
  }

  private mutating func addDeviceDeletionRoutes() {
    let (devices, accounts, sessions) = (homeserver.devices, homeserver.accounts, homeserver.sessions)

    on(.deleteDevice, budget: .authentication) { request, session in
      let deviceID: DeviceID = try request.path("deviceId")
      let body = try await request.optionalObject()
      try await accounts.requirePassword(of: session, for: "devices/" + deviceID.string, auth: body.given("auth"))
      try await devices.delete([deviceID], of: session.userID, sessions)
      return .emptyObject
    }

    on(.deleteDevices, budget: .authentication) { request, session in
      let body = try await request.object()
      var deviceIDs: Set<DeviceID> = []
      for element in try body.requiredArray("devices").elements {
        guard element.isString else { throw MatrixError.badJSON("'devices' is not a list of device IDs.") }
        if let deviceID = DeviceID(element) { deviceIDs.insert(deviceID) }
      }
      let names = deviceIDs.sorted().map(\.string).joined(separator: "\n")
      try await accounts.requirePassword(of: session, for: "delete_devices/" + names, auth: body.given("auth"))
      try await devices.delete(deviceIDs, of: session.userID, sessions)
      return .emptyObject
    }
  }

  /// An ID no device can have is that of a device that is not there.
  private static func deviceID(_ request: APIRequest) throws -> DeviceID {
    guard let deviceID = DeviceID(request.path("deviceId")) else {
      throw MatrixError.notFound("The user has no such device.")
    }
    return deviceID
  }

  private static func write(_ device: Devices.Device, to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("device_id", device.deviceID)
      // Optional in the standard, but client libraries in use take it for given.
      writer.member("display_name", device.displayName ?? "")
      if let address = device.lastSeenAddress { writer.member("last_seen_ip", address) }
      writer.member("last_seen_ts", device.lastSeen)
      writer.member("martlet.signed_in_ts", device.created)
    }
  }
}
