import HTTPServer
import JSON
import MatrixModel
import ServerAccounts

/// Dehydrated devices. Source: MSC3814.
extension Routes {
  mutating func addDehydratedDeviceRoutes() {
    let dehydrated = homeserver.dehydratedDevices

    on(.putDehydratedDevice) { request, session in
      let body = try await request.object()
      let deviceID: DeviceID = try body.requiredIdentifier("device_id")
      try await dehydrated.replace(with: DehydratedDevices.Upload(body), of: session.userID)
      return .json { $0.object { $0.member("device_id", deviceID) } }
    }

    on(.getDehydratedDevice) { _, session in
      let device = try await dehydrated.device(of: session.userID)
      return .json { writer in
        writer.object { writer in
          writer.member("device_id", device.deviceID)
          writer.member("device_data", raw: device.data)
        }
      }
    }

    on(.deleteDehydratedDevice) { _, session in
      let deviceID = try await dehydrated.delete(of: session.userID)
      return .json { $0.object { $0.member("device_id", deviceID) } }
    }

    on(.getDehydratedDeviceEvents) { request, session in
      let token = try await request.optionalObject().optionalText("next_batch")
      let page = try await dehydrated.messages(for: request.path("deviceId"), of: session.userID, after: token)
      return .json(capacity: 4_096) { writer in
        writer.object { writer in
          writer.array("events", page.messages) { $0.write(to: &$1) }
          writer.member("next_batch", page.next)
        }
      }
    }
  }
}
