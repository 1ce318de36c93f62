import HTTPServer
import JSON
import MatrixModel
import ServerAccounts

/// The devices of others.
extension Routes {
  mutating func addUserDeviceAdministrationRoutes() {
    addUserDeviceRoutes()
    addUserDeviceDeletionRoutes()
  }

  private mutating func addUserDeviceRoutes() {
    let (accounts, audit, devices) = (homeserver.accounts, homeserver.audit, homeserver.devices)
    let server = homeserver.configuration.serverName
    let path = Self.administration + "/v2/users/{userId}"

    onAdmin(.get, path + "/devices") { request, _ in
      let userID = try request.localUser("userId", of: server)
      _ = try await accounts.existing(userID)
      let all = try await devices.all(of: userID)
      return .json(capacity: all.count * 192 + 64) { writer in
        writer.object { writer in
          writer.list("devices", all) { Self.write($0, of: userID, to: &$1) }
          writer.member("total", all.count)
        }
      }
    }

    onAdmin(.get, path + "/devices/{deviceId}") { request, _ in
      let userID = try request.localUser("userId", of: server)
      let device = try await devices.device(try request.path("deviceId"), of: userID)
      return .json { $0.object { Self.write(device, of: userID, to: &$0) } }
    }

    onAdmin(.put, path + "/devices/{deviceId}") { request, administrator in
      let userID = try request.localUser("userId", of: server)
      let deviceID: DeviceID = try request.path("deviceId")
      let name = try await request.object().optionalText("display_name")?.string
      try await audit.record(
        "device.rename", of: userID.string, by: administrator, details: { $0.member("device_id", deviceID) }
      ) { try await devices.rename(deviceID, of: userID, to: name) }
      return .emptyObject
    }
  }

  private mutating func addUserDeviceDeletionRoutes() {
    let (accounts, audit, devices) = (homeserver.accounts, homeserver.audit, homeserver.devices)
    let (sessions, server) = (homeserver.sessions, homeserver.configuration.serverName)
    let path = Self.administration + "/v2/users/{userId}"

    onAdmin(.delete, path + "/devices/{deviceId}") { request, administrator in
      let userID = try request.localUser("userId", of: server)
      let deviceID: DeviceID = try request.path("deviceId")
      try await audit.record(
        "device.delete", of: userID.string, by: administrator, details: { $0.member("device_id", deviceID) }
      ) {
        _ = try await accounts.existing(userID)
        try await devices.delete([deviceID], of: userID, sessions)
      }
      return .emptyObject
    }

    onAdmin(.post, path + "/delete_devices") { request, administrator in
      let userID = try request.localUser("userId", of: server)
      let list = try await request.object().requiredArray("devices")
      let deviceIDs = try list.elements.map { element -> DeviceID in
        guard let deviceID = DeviceID(element) else { throw MatrixError.badJSON("'devices' is a list of device IDs.") }
        return deviceID
      }
      try await audit.record(
        "device.delete", of: userID.string, by: administrator, details: { $0.member("count", deviceIDs.count) }
      ) {
        _ = try await accounts.existing(userID)
        try await devices.delete(Set(deviceIDs), of: userID, sessions)
      }
      return .emptyObject
    }
  }

  private static func write(_ device: Devices.Device, of userID: UserID, to writer: inout JSONWriter) {
    writer.member("device_id", device.deviceID)
    writer.member("display_name", orNull: device.displayName.map { ByteString($0) })
    writer.member("last_seen_ip", orNull: device.lastSeenAddress.map { ByteString($0) })
    writer.member("last_seen_ts", device.lastSeen)
    writer.member("user_id", userID)
  }
}
